import { z } from 'zod';
import type { ConnectorPorts, Urgency } from '../../core/connector.ts';
import { CloseloopError, type Outcome } from '../../core/errors.ts';
import { isNeverSent } from '../../core/feedback/network-failure.ts';
import { jsonBody } from '../../core/json-body.ts';
import { type Credentials, dailyTokens, permanentToken } from './credentials.ts';
import { Envelope, type Failure, failureOf, untilAffordable } from './failure.ts';
import { addressOf, apiVersion, type ShopifySettings } from './settings.ts';

const timeoutMs = 30_000;

/** Every call to one shop: inside its budget, with a valid token, one attempt. Throws CloseloopError. */
export interface ShopifyApi {
  /** @param document One named operation. */
  call<S extends z.ZodType>(
    document: string,
    variables: Readonly<Record<string, unknown>>,
    data: S,
    urgency?: Urgency,
  ): Promise<z.output<S>>;
}

const Token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().nullish() });
const aDaySeconds = 86_400;

export function shopifyApi(settings: ShopifySettings, ports: ConnectorPorts): ShopifyApi {
  const base = addressOf(settings);
  const { shop } = settings;
  const credentials = credentialsOf(settings);
  let warned: string | undefined;

  async function post(place: string, path: string, body: object, urgency: Urgency, token?: string) {
    await ports.budget.take(undefined, urgency);
    try {
      const response = await ports.fetch(base + path, {
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          ...(token !== undefined && { 'x-shopify-access-token': token }),
        },
        body: JSON.stringify(body),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, headers: response.headers, json: jsonBody(await response.text()) };
    } catch (cause) {
      throw networkError(place, cause);
    }
  }

  async function fail({ error, pauseMs }: Failure): Promise<never> {
    if (pauseMs !== undefined) await ports.budget.pause(pauseMs);
    throw error;
  }

  async function fetchToken(id: string, secret: string): Promise<{ token: string; lifeMs: number }> {
    const place = `${shop}, token`;
    const grant = { client_id: id, client_secret: secret, grant_type: 'client_credentials' };
    const { status, headers, json } = await post(place, '/admin/oauth/access_token', grant, 'work');
    if (status === 400 || status === 401) {
      throw new CloseloopError(
        `Shopify ${place}: refused (${status}). An owner of the shop must check that the app is installed, of the same organisation as the ` +
          'shop, and that clientId and clientSecret are its current ones (Dev Dashboard > app > Settings)',
        { kind: 'config' },
      );
    }
    const isPage = json === undefined;
    const failure = failureOf(
      place,
      status,
      headers.get('retry-after'),
      isPage ? undefined : { data: {} },
      ports.random(),
    );
    if (failure !== undefined) return fail(failure);
    const token = shaped(place, Token, json);
    return { token: token.access_token, lifeMs: (token.expires_in ?? aDaySeconds) * 1000 };
  }

  function credentialsOf({ accessToken, clientId, clientSecret }: ShopifySettings): Credentials {
    if (accessToken !== undefined) return permanentToken(accessToken);
    if (clientId === undefined || clientSecret === undefined) {
      throw new CloseloopError(`Shopify ${shop}: accessToken is missing`, { kind: 'config' });
    }
    return dailyTokens(() => fetchToken(clientId, clientSecret), ports.now);
  }

  /** What is left, and nothing at all where the next call of this size would be refused. */
  async function heed({ extensions }: Envelope): Promise<void> {
    const cost = extensions?.cost;
    if (cost === undefined) return;
    const { maximumAvailable: limit, currentlyAvailable, restoreRate } = cost.throttleStatus;
    const waitMs = untilAffordable(cost);
    const fullMs = ((limit - currentlyAvailable) / restoreRate) * 1000;
    const remaining = waitMs > 0 ? 0 : Math.floor(currentlyAvailable);
    await ports.budget.left({ limit, remaining, resetMs: Math.ceil(waitMs || fullMs) });
  }

  function compareVersion(answered: string | null): void {
    if (answered === null || answered === apiVersion || answered === warned) return;
    warned = answered;
    ports.log.warn(
      { shop, asked: apiVersion, answered: /^[\w-]{1,20}$/.test(answered) ? answered : 'another one' },
      'Shopify answers in another version of its API than asked for: update closeloop',
    );
  }

  return {
    async call(document, variables, data, urgency = 'work') {
      const operation = /^\s*(?:query|mutation)\s+(\w+)/.exec(document)?.[1] ?? 'call';
      const place = `${shop}, ${operation}`;
      for (let replaced = false; ; replaced = true) {
        const token = await credentials.current();
        const path = `/admin/api/${apiVersion}/graphql.json`;
        const { status, headers, json } = await post(place, path, { query: document, variables }, urgency, token);
        if (status === 401 && !replaced && credentials.refused(token)) continue;
        const body = Envelope.safeParse(json).data;
        const failure = failureOf(place, status, headers.get('retry-after'), body, ports.random());
        if (failure !== undefined) return fail(failure);
        compareVersion(headers.get('x-shopify-api-version'));
        if (body !== undefined) await heed(body);
        return shaped(place, data, body?.data);
      }
    },
  };
}

function networkError(place: string, cause: unknown): CloseloopError {
  const timedOut = cause instanceof Error && cause.name === 'TimeoutError';
  const what = timedOut ? 'no whole answer in time' : 'the connection failed';
  const outcome: Outcome = isNeverSent(cause) ? 'never-sent' : 'unknown';
  return new CloseloopError(`Shopify ${place}: ${what}; tried again`, { kind: 'transient' }, { outcome, cause });
}

/** Another shape than documented is named by its place, never by its values. */
function shaped<S extends z.ZodType>(place: string, schema: S, json: unknown): z.output<S> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'its top';
  throw new CloseloopError(
    `Shopify ${place}: the answer has another shape than documented, at ${where}`,
    { kind: 'permanent' },
    { outcome: 'unknown' },
  );
}
