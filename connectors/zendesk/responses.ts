import { z } from 'zod';
import {
  config,
  type Meaning,
  type MeaningTable,
  permanent,
  type ResponseRules,
} from '../../core/connector/classify.ts';
import { headerNumber, type Quota, quotaIn, type RateLimit } from '../../core/connector/quota.ts';
import type { HttpResponse } from '../../core/connector/send.ts';
import type { ResponseHeaders } from '../../core/ports.ts';

const ErrorBody = z.object({
  error: z.union([z.string(), z.object({ title: z.string() }).transform(({ title }) => title)]),
});

/** Zendesk's name for an error (`RecordNotFound`). Never its prose, which is in the language of closeloop's user and may quote a customer. */
export function errorName(body: unknown): string | undefined {
  const parsed = ErrorBody.safeParse(body);
  return parsed.success && /^[A-Za-z_]{1,60}$/.test(parsed.data.error) ? parsed.data.error : undefined;
}

const again = 'a later attempt may succeed';
const checkSubdomain =
  'check `subdomain`: the first part of the address that agents use, like "acme" of acme.zendesk.com';
const newSubdomain = 'put its current subdomain (not a help center address) into `subdomain`';
const bug = 'a bug in closeloop: please report it';

const table: MeaningTable = {
  '3xx': { ...config('the account has moved', newSubdomain), doubtful: true },
  400: permanent('Zendesk did not understand the call', bug),
  401: config(
    'Zendesk refuses the credentials, a new token too',
    'an admin must check that the owner of the OAuth client (or of the API token) is active and an agent, then update clientId and clientSecret',
  ),
  404: permanent('it does not exist any more', 'nothing is left to do'),
  '404 page': { ...config('there is no help desk at this address', checkSubdomain), doubtful: true },
  409: {
    ...{ kind: 'transient', outcome: 'refused' },
    ...{ problem: 'somebody changed the same thing at the same time', remedy: again },
  },
  '4xx': permanent('Zendesk refuses this for good', 'an agent must look at what it is about'),
  shape: permanent("the answer differs from Zendesk's documentation", bug),
};

/** The remedy for a 403, by the beginning of the path. */
const rights: Readonly<Record<string, string>> = {
  'users/me':
    'an admin must give the OAuth client the scope "read" (in `scope`, where that is set), and its owner must be an agent',
  'incremental/':
    'only admins may ask what has changed: an admin must make the owner of the OAuth client (or of the API token) an admin (Admin Center > People > Team members), and give the client the scope "read"',
  'users/':
    'an admin must give the OAuth client the scope "users:write" (writeBack.userFields) and its owner a role that may edit end users',
  'custom_objects/':
    'an admin must give the OAuth client the scope "write" (writeBack.customObject) and its owner access to the custom object',
  '(webhooks|triggers|automations|\\w+_fields|custom_objects)':
    'this needs an admin as the owner of the OAuth client, which may have the scopes "read write"',
  '': 'an admin must give the OAuth client the scopes "read tickets:write" (one string) and its owner a role that may see and edit these tickets',
};

/** Zendesk's differences from the standard table. Source: developer.zendesk.com, "rate limits". */
export const responseRules: ResponseRules = {
  codeOf: errorName,
  meaningOf(response, path) {
    const { status } = response;
    const below = path.replace('/api/v2/', '');
    if (isThrottle(response)) return wait(response);
    const [, remedy = ''] = Object.entries(rights).find(([beginning]) => new RegExp(`^${beginning}`).test(below)) ?? [];
    if (status === 403) return config('the credentials lack a right', remedy);
    const object = /^custom_objects\/([\w-]+)\/fields/.exec(below)?.[1];
    const place = 'Admin Center > Objects and rules > Custom objects > Objects';
    const make = `let "closeloop setup" create it, or take its key from ${place}`;
    if (status === 404 && object !== undefined) return config(`there is no custom object "${object}"`, make);
    const isDefinition = /^\w+_fields|^custom_objects($|\/[\w-]+\/fields)/.test(below);
    const taken =
      'its key or one of its tags may be taken, also by something that was deleted, or the plan has no room for more';
    return status === 422 && isDefinition ? permanent('Zendesk refuses this for good', taken) : undefined;
  },
  table,
};

/** Whether Zendesk refused the call and asks closeloop to wait: 429, or 30 jobs at the same time (whose status is undocumented). */
const isThrottle = ({ status, json }: HttpResponse): boolean => status === 429 || errorName(json) === 'TooManyJobs';

/**
 * The wait. Without Retry-After closeloop waits until a used-up limit is full again. A used-up limit of an endpoint pauses only calls to that
 * endpoint.
 */
function wait({ headers }: HttpResponse): Meaning {
  const usedUp = (quotas: readonly Quota[]) => quotas.filter(({ remaining }) => remaining === 0);
  const [account, endpoint] = [usedUp(accountQuotas(headers)), usedUp(endpointQuotas(headers))];
  const resetMs = Math.max(0, ...[...account, ...endpoint].map((quota) => quota.resetMs));
  const pauses = endpoint.length > 0 && account.length === 0 ? 'endpoint' : 'account';
  const words = { problem: 'Zendesk asks us to wait', remedy: again };
  return { kind: 'wait', ...(resetMs > 0 && { ms: resetMs }), pauses, ...words };
}

const client = '(Admin Center > Apps and integrations > APIs > OAuth clients)';

/** The rules for the call that fetches tokens with this scope. Codes: RFC 6749, section 5.2. */
export function tokenRules(scope: string): ResponseRules {
  const scopes = `an admin must allow it to the OAuth client ${client}, or correct \`scope\`; left out it is what writeBack needs`;
  const secrets = `an admin must copy its identifier and secret ${client} into clientId and clientSecret`;
  const all = `an admin of this Zendesk must check it ${client}: kind Confidential, its owner active; clientId, clientSecret and scope as in the configuration`;
  const codes: MeaningTable = {
    invalid_scope: config(`the OAuth client may not have the scope "${scope}"`, scopes),
    invalid_client: config('the OAuth client is not known, or its secret is another one', secrets),
  };
  return {
    ...responseRules,
    table: { ...table, ...codes },
    meaningOf(response) {
      const { status, json } = response;
      if (isThrottle(response)) return wait(response);
      const isNamed = (errorName(json) ?? '') in codes || (status === 404 && json === undefined);
      const isRefused = status >= 400 && status < 500 && status !== 408 && !isNamed;
      return isRefused ? config('the OAuth client gets no token', all) : undefined;
    },
  };
}

/** The endpoint of updates of users. No header reports its limit: one update a second for the whole account. */
export const userUpdates = { endpoint: 'user-updates' } as const;
export const unreportedLimits: Readonly<Record<string, Quota>> = {
  [userUpdates.endpoint]: { limit: 1, remaining: 1, resetMs: 1000 },
};

/** The limits in a response's headers: the account's limit per minute, and the tightest limit of the call's endpoint. */
export function rateLimitsIn(headers: ResponseHeaders, _now: Date, endpoint: string | undefined): RateLimit[] {
  const [tightest] = endpointQuotas(headers, perTicket).toSorted((a, b) => a.remaining - b.remaining);
  const ofEndpoint = tightest === undefined || endpoint === undefined ? [] : [{ ...tightest, name: endpoint }];
  return [...accountQuotas(headers), ...ofEndpoint];
}

/** The time until the account's limit is full again; the usual window if Zendesk names no time. */
const inMs = (seconds: number | undefined): number => (seconds ?? 60) * 1000;

function accountQuotas(headers: ResponseHeaders): Quota[] {
  const resetMs = inMs(headerNumber(headers, 'ratelimit-reset'));
  return [
    ...quotaIn(headers, 'ratelimit-limit', 'ratelimit-remaining', resetMs),
    ...quotaIn(headers, 'x-rate-limit', 'x-rate-limit-remaining', resetMs),
  ].slice(0, 1);
}

/** Matches the limit of changes of one ticket, which says nothing about changes of other tickets. */
const perTicket = /-per-ticket$/;
/** The limit of update_many jobs at the same time. Jobs end in seconds, so this limit matters only when it is used up. */
const jobs = 'zendesk-ratelimit-inflight-jobs';

/** Reads the limits of endpoints from headers like `total=100; remaining=42; resets=60`. */
const endpointQuotas = (headers: ResponseHeaders, without = /^$/): Quota[] =>
  [...headers].flatMap(([name, value]) => {
    if (!name.startsWith('zendesk-ratelimit-') || without.test(name)) return [];
    const parts = new Map([...value.matchAll(/(\w+)=(\d+)/g)].map(([, key = '', digits]) => [key, Number(digits)]));
    const [remaining, limit] = [parts.get('remaining'), parts.get('total')];
    if (remaining === undefined || limit === undefined || (name === jobs && remaining > 0)) return [];
    return [{ limit, remaining, resetMs: inMs(parts.get('resets')) }];
  });
