import type { z } from 'zod';
import { errorAt, type Probe } from '../../core/connector/check.ts';
import type { Finding } from '../../core/connector/contract.ts';
import { adviceOf, CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { inWords } from './responses.ts';

/** One thing of the account to read. */
interface AccountProbe<S extends z.ZodType> extends Partial<Probe> {
  /** In words: "the ticket pipelines". */
  what: string;
  /** The scope that shows it. */
  scope: string;
  method: 'GET' | 'POST';
  path: string;
  schema: S;
  query?: Record<string, string>;
  body?: object;
}

/** Reads parts of the account one after the other. A failed read becomes a finding, and the other reads go on. */
export interface AccountProber {
  readonly findings: Finding[];
  /** Undefined after a failure, which is a finding. A missing scope is reported once, and no further call with that scope is made. */
  probe<S extends z.ZodType>(probe: AccountProbe<S>): Promise<z.output<S> | undefined>;
  /** Tests a right by a request that changes nothing and may be refused for its content. */
  probeRight(probe: AccountProbe<z.ZodType>): Promise<void>;
  misses(scope: string): boolean;
}

export function accountProber(api: HubSpotApi): AccountProber {
  const findings: Finding[] = [];
  const missingScopes = new Set<string>();

  async function ask<S extends z.ZodType>({ what, at, scope, method, path, schema, query, body }: AccountProbe<S>) {
    if (missingScopes.has(scope)) return undefined;
    try {
      const options = { answers: [403], ...(query && { query }), ...(body && { body }) };
      const answer = await api.attempt(method, path, schema, options);
      if (answer.ok || answer.refusal.status !== 403) return answer;
      const { scopes } = answer.refusal;
      const missing = scopes.length === 0 || scopes.includes(scope) ? scope : scopes.join(' or ');
      if (!missingScopes.has(missing)) findings.push(misses(missing, what));
      missingScopes.add(missing);
    } catch (error) {
      findings.push(unread(what, error, at));
    }
    return undefined;
  }

  return {
    findings,
    async probe(probe) {
      const answer = await ask(probe);
      if (answer?.ok) return answer.body;
      if (answer !== undefined) findings.push(refused(probe.what, inWords(answer.refusal)));
      return undefined;
    },
    async probeRight(probe) {
      await ask(probe);
    },
    misses: (scope) => missingScopes.has(scope),
  };
}

const misses = (scope: string, what: string): Finding =>
  errorAt(
    'scopes',
    `the app has no scope ${scope}: HubSpot refuses ${what} (403)`,
    'Add the scope to the app (project app: requiredScopes in app-hsmeta.json; legacy app: its Scopes tab), and have a HubSpot admin install the app again or approve it',
  );

const refused = (what: string, why: string): Finding =>
  errorAt(
    what,
    `HubSpot does not show ${what}: ${why}`,
    'Run check again; if it stays, what hangs on this was not checked: ask HubSpot support',
  );

/** @param at default: `what` */
export function unread(what: string, error: unknown, at = what): Finding {
  const known = error instanceof CloseloopError ? error.message : `${what} could not be read, for a reason of our own`;
  const remedy =
    adviceOf(error).kind === 'config'
      ? 'Do as it says, then run check again'
      : 'Run check again: what hangs on this was not checked';
  return errorAt(at, known, remedy);
}
