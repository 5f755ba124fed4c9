import { Client } from '@hubspot/api-client';
import { z } from 'zod';
import { config, type ResponseRules, VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Quota, RateLimit, Urgency } from '../../core/connector/contract.ts';
import { headerNumber } from '../../core/connector/quota.ts';
import { type Credentials, refreshedToken, staticToken, TokenGrant } from '../../core/connector/token.ts';
import { createVendorApi, type VendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import type { Fetch, ResponseHeaders, SentRequest } from '../../core/ports.ts';
import { paths } from './objects.ts';
import { inWords, isAboutRequest, type Refusal, refusalIn, responseRules, untilMidnightMs } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';

type Attempt<T> = { ok: true; body: T } | { ok: false; refusal: Refusal };

interface Options {
  body?: object;
  query?: Record<string, string>;
  /** The priority in the quota. Default: work. */
  urgency?: Urgency;
  /** Statuses that are returned as refusals here, though they concern the whole account elsewhere. */
  answers?: readonly number[];
}

/** The client of one account. Sends each call once; the queue repeats failed work. */
export function hubSpotApi(settings: HubSpotSettings, ports: ConnectorPorts) {
  const { baseUrl, timeZone } = settings;
  let day: Quota | undefined;
  const api = createVendorApi(
    {
      ...{ name: 'HubSpot', baseUrl, credentials: credentialsOf(settings, ports), unreportedLimits },
      rateLimits(headers, now) {
        const quotas = quotasIn(headers, now, timeZone);
        day = quotas.find(({ name }) => name === 'daily') ?? day;
        return quotas;
      },
      rules: responseRules(settings, ports.now),
      transport: officialTransport(baseUrl, ports.fetch),
    },
    ports,
  );

  /** Returns refusals of the request (400, 404 …); throws for failures that concern the whole account. */
  async function attempt<S extends z.ZodType>(
    method: VendorCall['method'],
    path: string,
    schema: S,
    { query, answers = [], ...options }: Options = {},
  ): Promise<Attempt<z.output<S>>> {
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    const endpoint = path.endsWith('/search') ? { endpoint: searchEndpoint } : {};
    const call: VendorCall = { method, path: path + search, ...endpoint, ...options };
    const response = await api.exchange(call);
    const { status } = response;
    if (isAboutRequest(status) || answers.includes(status)) return { ok: false, refusal: refusalIn(response) };
    await api.accept(call, response);
    return { ok: true, body: api.parse(call, response, schema) };
  }

  return {
    attempt,
    /** Sends a request that does not depend on a record's content: throws a permanent error for a refusal, too. */
    async call<S extends z.ZodType>(method: VendorCall['method'], path: string, schema: S, options?: Options) {
      const answer = await attempt(method, path, schema, options);
      if (answer.ok) return answer.body;
      const { status, category: code } = answer.refusal;
      const words = { problem: inWords(answer.refusal), remedy: 'if it stays so, ask HubSpot support' };
      const told = { ...words, status, code, outcome: 'refused', advice: { kind: 'permanent' } } as const;
      throw new VendorError(`HubSpot: ${method} ${path}`, told);
    },
    /** The remaining calls of the day, by the last response. */
    daily: () => day,
  };
}
export type HubSpotApi = ReturnType<typeof hubSpotApi>;

/** The budget's name for the search endpoint, which has a limit of its own: five calls a second for the whole account. */
const searchEndpoint = 'search';

/** Responses to searches report no limit. Source: HubSpot, usage guidelines. */
const unreportedLimits: Readonly<Record<string, Quota>> = {
  [searchEndpoint]: { limit: 5, remaining: 5, resetMs: 1000 },
};

/** The limits in a response's headers: the limit of ten seconds, and the daily limit (not for apps with OAuth). */
function quotasIn(headers: ResponseHeaders, now: Date, timeZone: string | undefined): RateLimit[] {
  const number = (name: string) => headerNumber(headers, `x-hubspot-ratelimit-${name}`);
  const resetMs = number('interval-milliseconds') || 10_000;
  const window = quota(number('max'), number('remaining'), resetMs);
  const day = quota(number('daily'), number('daily-remaining'), untilMidnightMs(now, timeZone));
  return [...(window ? [window] : []), ...(day ? [{ ...day, name: 'daily' }] : [])];
}

/** A remaining count without its limit is useful only if it is 0. */
function quota(limit: number | undefined, remaining: number | undefined, resetMs: number): Quota | undefined {
  if (remaining === undefined || (limit === undefined && remaining > 0)) return undefined;
  return { limit: limit ?? 1, remaining, resetMs };
}

/** The request that the official client passes to its decorators. */
interface Prepared {
  getUrl(): URL;
  getSendData(): { method: string; headers: Record<string, string>; body?: string };
}

/**
 * The official client as transport. It has no time-out. Its decorators (meant for the client's own retries and limiter, which stay off) let
 * closeloop send the request, without a change of the process's global fetch or dispatcher.
 */
function officialTransport(basePath: string, fetch: Fetch): Fetch {
  let sent: SentRequest = {};
  const decorate = () => (request: Prepared) => fetch(request.getUrl(), { ...sent, ...request.getSendData() });
  class OfficialClient extends Client {
    protected override getDecorators() {
      return [{ decorate }];
    }
  }
  const client = new OfficialClient({ basePath });
  return (url, init) => {
    const { method = 'GET', body, headers: given = {} } = init;
    // The client sets its own accept header.
    const { accept: _, ...headers } = given;
    const path = String(url).slice(basePath.length);
    // The decorators are in a singleton of the process, so closeloop sets them and sends within one tick.
    sent = init;
    client.init();
    return client.apiRequest({ method, path, headers, defaultJson: false, ...(body !== undefined && { body }) });
  };
}

/** HubSpot's tokens live 30 minutes, as every response says. */
const usualLifeMs = 1_800_000;

/** The permanent token of an app with static auth, or tokens that an OAuth app trades its refresh token for. */
export function credentialsOf(settings: HubSpotSettings, ports: ConnectorPorts): Credentials {
  const { accessToken, clientId = '', clientSecret = '', refreshToken: configured = '' } = settings;
  if (accessToken !== undefined) return staticToken(accessToken);
  const api = tokenApi(settings, ports);
  const refresh = async (refresh_token: string) => {
    const form = { grant_type: 'refresh_token', client_id: clientId, client_secret: clientSecret, refresh_token };
    const { lifeMs = usualLifeMs, ...granted } = await api.call(
      { method: 'POST', path: paths.token, form },
      TokenGrant,
    );
    return { ...granted, lifeMs };
  };
  return refreshedToken({ name: 'hubspot-oauth', configured }, refresh, ports);
}

const text = z.string().optional().catch(undefined);
const Refused = z.object({ error: text, status: text }).catch({});

/** The refusals by which the account revoked the access. */
const revoked = new Set(['invalid_grant', 'BAD_REFRESH_TOKEN', 'BAD_HUB', 'access_denied']);
const accessLost = config(
  'HubSpot no longer accepts the refresh token',
  "an admin of the HubSpot account must reconnect the app (open its install link); put the new refresh token into the source's refreshToken",
);
const tokenRefused = config(
  'HubSpot refused the token request',
  "check clientId and clientSecret: they are on the app's Auth page",
);

/** The client for the token endpoints, whose calls carry no token. Connecting the account again corrects a revocation, and no other refusal. */
export function tokenApi(settings: HubSpotSettings, ports: ConnectorPorts): VendorApi {
  const usual = responseRules(settings, ports.now);
  const meaningOf: ResponseRules['meaningOf'] = (response, path) => {
    const { status, json } = response;
    if (!isAboutRequest(status) && status !== 401 && status !== 403) return usual.meaningOf?.(response, path);
    const { error = '', status: code = '' } = Refused.parse(json);
    return revoked.has(error) || revoked.has(code) ? accessLost : tokenRefused;
  };
  return createVendorApi({ name: 'HubSpot', baseUrl: settings.baseUrl, rules: { ...usual, meaningOf } }, ports);
}
