import { z } from 'zod';
import { retryAfterMs } from '../../core/connector/retry-after.ts';
import { type Advice, CloseloopError, type Outcome } from '../../core/errors.ts';
import { objectTypes } from './objects.ts';
import { untilMidnightMs } from './quota.ts';
import type { HubSpotSettings } from './settings.ts';

/**
 * What HubSpot has against a request, in its own codes. Its `message` texts repeat customers' values, so nothing of
 * them is kept but what looks like a code or a property's internal name.
 */
export interface Refusal {
  status: number;
  /** `VALIDATION_ERROR`, `OBJECT_NOT_FOUND` …; "error" where HubSpot gives none. */
  category: string;
  /** `INVALID_OPTION`, `PROPERTY_DOESNT_EXIST` … with the property each is about. */
  problems: { code: string; property?: string }[];
  /** Records that HubSpot names as guilty. */
  ids: string[];
  scopes: string[];
  policyName?: string;
}

const Texts = z.union([z.string().transform((text) => [text]), z.array(z.coerce.string())]).catch([]);

/** Every field of an error is optional at HubSpot. Also the shape of one entry of `errors` in a 200 or 207. */
export const ErrorBody = z.object({
  status: z.string().optional().catch(undefined),
  category: z.string().optional().catch(undefined),
  subCategory: z.string().optional().catch(undefined),
  code: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  policyName: z.string().optional().catch(undefined),
  context: z.record(z.string(), Texts).optional().catch(undefined),
  errors: z
    .array(
      z.object({
        code: z.string().optional().catch(undefined),
        subCategory: z.string().optional().catch(undefined),
        context: z.record(z.string(), Texts).optional().catch(undefined),
      }),
    )
    .optional()
    .catch(undefined),
});
export type ErrorBody = z.output<typeof ErrorBody>;

const isCode = (text: string | undefined): text is string => /^[A-Z][A-Z0-9_]{1,80}$/.test(text ?? '');
const isName = (text: string | undefined): text is string => /^[a-z][a-z0-9_]{0,99}$/.test(text ?? '');

/** In validation errors the details sit as JSON within `message`, after "Property values were not valid:". */
const Items = z.array(z.object({ name: z.string().optional(), error: z.string().optional() })).catch([]);
function itemsWithin(message: string | undefined): z.output<typeof Items> {
  const start = message?.indexOf('[') ?? -1;
  if (message === undefined || start < 0) return [];
  try {
    return Items.parse(JSON.parse(message.slice(start)));
  } catch {
    return [];
  }
}

export function refusalOf(status: number, body: ErrorBody): Refusal {
  const details = [body, ...(body.errors ?? [])];
  const named = [
    ...details.map(({ code, context }) => ({ code, property: context?.propertyName?.[0] })),
    ...itemsWithin(body.message).map(({ error, name }) => ({ code: error, property: name })),
  ];
  return {
    status,
    category: [body.category, body.subCategory].find(isCode) ?? 'error',
    problems: named
      .filter(({ code, property }) => isCode(code) || isName(property))
      .map(({ code, property }) => ({
        code: isCode(code) ? code : 'INVALID',
        ...(isName(property) && { property }),
      })),
    ids: details.flatMap(({ context }) => [
      ...(context?.ids ?? []),
      ...(context?.id ?? []),
      ...(context?.fromObjectId ?? []),
    ]),
    scopes: details
      .flatMap(({ context }) => [...(context?.requiredGranularScopes ?? []), ...(context?.requiredScopes ?? [])])
      .filter((scope) => /^[a-z][a-z_.-]{1,80}$/.test(scope)),
    ...(isCode(body.policyName) && { policyName: body.policyName }),
  };
}

/** "VALIDATION_ERROR, INVALID_OPTION in feedback_grade" */
export function inWords({ status, category, problems }: Refusal): string {
  const found = problems.map(({ code, property }) => (property ? `${code} in ${property}` : code));
  return [...new Set([status === 0 ? category : `${status} ${category}`, ...found])].join(', ');
}

/** A failure that concerns the account, not this request's content; `pauseMs`: nobody may call it before. */
export interface AccountFailure {
  error: CloseloopError;
  pauseMs?: number;
}

/**
 * What an answer other than 2xx means for the whole account, or undefined if HubSpot only dislikes this request.
 * `place` is method and path, without ids. Source: HubSpot, error handling and usage guidelines.
 */
export function accountFailure(
  place: string,
  refusal: Refusal,
  retryAfter: string | null,
  now: Date,
  { timeZone, refreshToken }: Partial<Pick<HubSpotSettings, 'timeZone' | 'refreshToken'>>,
): AccountFailure | undefined {
  const { status } = refusal;
  const said = retryAfterMs(retryAfter, now);
  const fail = (text: string, advice: Advice, outcome: Outcome = 'refused') =>
    new CloseloopError(`HubSpot ${place}: ${text}`, advice, { outcome });
  const wait = (text: string, pauseMs: number): AccountFailure => ({
    error: fail(text, { kind: 'transient', retryAfterMs: pauseMs, throttled: true }),
    pauseMs,
  });
  const config = (text: string, more: { doubtful?: boolean } = {}): AccountFailure => ({
    error: fail(text, { kind: 'config', ...more }),
  });

  if (status === 429) {
    const limit = refusal.policyName ?? 'rate';
    return wait(`${limit} limit reached (429); waiting`, said ?? limitMs(refusal.policyName, now, timeZone));
  }
  if (status === 477)
    return wait('the account is being moved to another data centre (477); waiting', said ?? 3_600_000);
  if (status === 423) {
    const retryAfterMs = Math.max(said ?? 0, 2000);
    return { error: fail('locked for a moment (423); tried again', { kind: 'transient', retryAfterMs }) };
  }
  if (status === 401) {
    return config(
      refreshToken === undefined
        ? "the access token was refused (401). A HubSpot admin must copy the app's access token (app settings, Auth) into accessToken"
        : 'a new access token was refused (401). An admin of the HubSpot account must reconnect the app (open its install link)',
    );
  }
  if (status === 403) {
    const scopes = refusal.scopes.length > 0 ? refusal.scopes : [scopeFor(place)];
    return config(
      `not allowed (403). A HubSpot admin must add the scope ${scopes.join(', ')} to the app and install the app again`,
    );
  }
  if (status >= 300 && status < 400) {
    return config(`it answered with a redirect (${status}). Set baseUrl to the API's own address, or leave it out`, {
      doubtful: true,
    });
  }
  if (status >= 500) {
    const advice: Advice = { kind: 'transient', ...(said !== undefined && { retryAfterMs: said }) };
    return { error: fail(`HubSpot failed (${status}); tried again`, advice, 'unknown') };
  }
  return undefined;
}

/** HubSpot's documented windows. The daily count starts again at midnight in the account's zone. */
function limitMs(policyName: string | undefined, now: Date, timeZone: string | undefined): number {
  if (policyName === 'SECONDLY') return 1000;
  if (policyName !== 'DAILY') return 10_000;
  return untilMidnightMs(now, timeZone);
}

/** The scope each path needs. Source: HubSpot's API specifications. */
function scopeFor(place: string): string {
  if (place.includes('/owners')) return 'crm.objects.owners.read';
  if (place.includes('/objects/') && /\/(contacts|notes)\//.test(place)) {
    return /\/batch\/(update|create)$/.test(place) ? 'crm.objects.contacts.write' : 'crm.objects.contacts.read';
  }
  const type = place.includes('/deals') ? 'deal' : 'ticket';
  const { read, write } = objectTypes[type].scopes;
  if (place.includes('/associations/')) return `${read}, crm.objects.contacts.read`;
  return place.endsWith('/batch/update') ? write : read;
}
