import { randomBytes } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { z } from 'zod';
import { formOrJsonBody, ok, type StandinRequest, type StandinResponse } from '../kit/message.ts';

const aDayMs = 86_400_000;

const tokenRequest = z.object({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  grant_type: z.string().optional(),
});

/** An app's ways in while it is installed: its permanent token, and those that its client credentials get for a day. */
export class Access {
  readonly #app: { accessToken: string; clientId: string; clientSecret: string };
  /** With when they end. */
  readonly #tokens = new Map<string, number>();
  #installed = true;

  constructor(app: { accessToken: string; clientId: string; clientSecret: string }) {
    this.#app = app;
  }

  knows(token: string | undefined, now: number): boolean {
    if (!this.#installed || token === undefined) return false;
    return token === this.#app.accessToken || (this.#tokens.get(token) ?? 0) > now;
  }

  /** POST /admin/oauth/access_token, grant client_credentials only. */
  issueToken(req: StandinRequest, scopes: readonly string[], now: number): StandinResponse {
    const { client_id, client_secret, grant_type } = tokenRequest.safeParse(formOrJsonBody(req)).data ?? {};
    if (grant_type !== 'client_credentials') return { status: 400, body: { error: 'unsupported_grant_type' } };
    if (!this.#installed || client_id !== this.#app.clientId || client_secret !== this.#app.clientSecret) {
      return { status: 400, body: { error: 'application_cannot_be_found' } };
    }
    const token = `shpat_${randomBytes(16).toString('hex')}`;
    this.#tokens.set(token, now + aDayMs);
    return ok({ access_token: token, scope: scopes.join(','), expires_in: aDayMs / 1000 - 1 });
  }

  /** No token is good any more. */
  uninstall(): void {
    this.#installed = false;
    this.#tokens.clear();
  }
}

/** A right to write includes the one to read. @throws GraphQLError ACCESS_DENIED when none of these is held */
export function needScope(held: readonly string[], oneOf: readonly string[]): void {
  if (oneOf.some((one) => held.includes(one) || held.includes(one.replace('read_', 'write_')))) return;
  const message = `Access denied. Required access: \`${oneOf.join('` or `')}\` access scope.`;
  throw new GraphQLError(message, { extensions: { code: 'ACCESS_DENIED' } });
}
