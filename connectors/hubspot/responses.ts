import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { config, type Meaning, type MeaningTable, type ResponseRules } from '../../core/connector/classify.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { tooIntricate } from '../../core/connector/json-structure.ts';
import type { HttpResponse } from '../../core/connector/send.ts';
import { listOf, mapOf, orElse } from '../../core/entries.ts';
import { objectTypes } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';

const text = orElse(z.string(), undefined).optional();
const Texts = orElse(z.union([z.string().transform((text) => [text]), listOf(z.coerce.string())]), []);
const context = orElse(mapOf(Texts), undefined).optional();

/** The body of an error, or an entry of `errors` in a 200 or 207. HubSpot documents every field as optional. */
export const ErrorBody = z.object({
  ...{ category: text, subCategory: text, code: text, message: text, policyName: text, context },
  errors: orElse(listOf(z.object({ code: text, context })), undefined).optional(),
});
export type ErrorBody = z.output<typeof ErrorBody>;

const isCode = (text: string | undefined): text is string => /^[A-Z][A-Z0-9_]{1,80}$/.test(text ?? '');
const isName = (text: string | undefined): text is string => /^[a-z][a-z0-9_]{0,99}$/.test(text ?? '');

/** Reads the details of a validation error: they are JSON within `message`, after "Property values were not valid:". */
const Items = orElse(listOf(z.object({ name: z.string().optional(), error: z.string().optional() })), []);
function itemsWithin(message = ''): z.output<typeof Items> {
  const start = message.indexOf('[');
  // The check of the response's structure did not cover this JSON, which is within a string.
  if (start < 0 || tooIntricate(Buffer.from(message)) !== undefined) return [];
  return Items.parse(jsonBody(message.slice(start)));
}

/** The refusal in a response. */
export const refusalIn = ({ status, json }: HttpResponse): Refusal =>
  refusalOf(status, ErrorBody.safeParse(json).data ?? {});

/**
 * A refusal in HubSpot's codes. HubSpot's `message` texts quote customers' values, so closeloop takes only codes and internal names of
 * properties from them.
 * @param status 0: the refusal of one record in a batch
 */
export function refusalOf(status: number, body: ErrorBody) {
  const details = [body, ...(body.errors ?? [])];
  const named = [
    ...details.map(({ code, context }) => ({ code, property: context?.propertyName?.[0] })),
    ...itemsWithin(body.message).map(({ error, name }) => ({ code: error, property: name })),
  ];
  const told = (...names: string[]) => details.flatMap(({ context }) => names.flatMap((name) => context?.[name] ?? []));
  const problems = named
    .filter(({ code, property }) => isCode(code) || isName(property))
    .map(({ code, property }) => ({ code: isCode(code) ? code : 'INVALID', ...(isName(property) && { property }) }));
  return {
    status,
    /** `VALIDATION_ERROR`, `OBJECT_NOT_FOUND` …; "error" where HubSpot gives none. */
    category: [body.category, body.subCategory].find(isCode) ?? 'error',
    /** `INVALID_OPTION`, `PROPERTY_DOESNT_EXIST` …, each with its property. */
    problems,
    /** The records that HubSpot names as the cause, and the property whose values it finds invalid. */
    ids: told('ids', 'id', 'fromObjectId'),
    place: problems.find(({ property, code }) => property !== undefined && code.startsWith('INVALID'))?.property,
    scopes: told('requiredGranularScopes', 'requiredScopes').filter((scope) => /^[a-z][a-z_.-]{1,80}$/.test(scope)),
    ...(isCode(body.policyName) && { policyName: body.policyName }),
  };
}
export type Refusal = ReturnType<typeof refusalOf>;

/** "VALIDATION_ERROR, INVALID_OPTION in feedback_grade" */
export function inWords({ status, category, problems }: Refusal): string {
  const found = problems.map(({ code, property }) => (property ? `${code} in ${property}` : code));
  return [...new Set([status === 0 ? category : `${status} ${category}`, ...found])].join(', ');
}

/** Whether the status concerns the request alone. Every other status concerns the whole account. */
export const isAboutRequest = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 403, 408, 423, 429, 477].includes(status);

const again = 'a later attempt may succeed';

const redirect = { problem: 'a redirect, which is not followed', remedy: "set baseUrl to the API's own address" };
const moving = { problem: 'the account is being moved to another data centre', remedy: 'calls wait for the end of it' };
const table: MeaningTable = {
  '3xx': { kind: 'config', doubtful: true, ...redirect },
  423: { kind: 'transient', outcome: 'refused', ms: 2000, problem: 'locked for a moment', remedy: again },
  477: { kind: 'wait', ms: 3_600_000, ...moving },
};

const tokenRefused: Meaning = config(
  'the access token was refused',
  "a HubSpot admin must copy the app's access token (app settings, Auth) into accessToken",
);
const newTokenRefused: Meaning = config(
  'a new access token was refused',
  'an admin of the HubSpot account must reconnect the app (open its install link)',
);

/** HubSpot's differences from the standard table. Source: HubSpot, error handling and usage guidelines. */
export function responseRules(
  { timeZone, refreshToken }: Pick<HubSpotSettings, 'timeZone' | 'refreshToken'>,
  now: () => Date,
): ResponseRules {
  return {
    meaningOf(response, path) {
      if (response.status === 429) return usedUp(refusalIn(response), now(), timeZone);
      return response.status === 403 ? notAllowed(refusalIn(response), path) : undefined;
    },
    table: { ...table, 401: refreshToken === undefined ? tokenRefused : newTokenRefused },
  };
}

/** The wait by HubSpot's documented windows. The daily limit is full again at midnight in the account's zone; all apps share it. */
function usedUp({ policyName }: Refusal, now: Date, timeZone: string | undefined): Meaning {
  const words = { problem: `${policyName ?? 'rate'} limit reached`, remedy: 'calls wait for the next window' };
  if (policyName === 'DAILY') return { kind: 'wait', ms: untilMidnightMs(now, timeZone), pauses: 'account', ...words };
  return { kind: 'wait', ms: policyName === 'SECONDLY' ? 1000 : 10_000, pauses: 'endpoint', ...words };
}

function notAllowed({ scopes }: Refusal, path: string): Meaning {
  const missing = scopes.length > 0 ? scopes.join(', ') : scopeFor(path.split('?')[0] ?? '');
  const remedy = `a HubSpot admin must add the scope ${missing} to the app (project app: requiredScopes in app-hsmeta.json; legacy app: its Scopes tab) and install the app again`;
  return config(`the app has no scope ${missing}`, remedy);
}

/** The scope that each path needs. Source: HubSpot's API specifications. */
function scopeFor(path: string): string {
  if (path.startsWith('/account-info')) return 'oauth';
  if (path.includes('/owners')) return 'crm.objects.owners.read';
  const isWrite = /\/batch\/(update|create)$/.test(path);
  if (/^\/crm\/(objects|properties)\/[^/]+\/(contacts|notes|tasks)\b/.test(path))
    return `crm.objects.contacts.${isWrite ? 'write' : 'read'}`;
  const { read, write } = objectTypes[path.includes('/deals') ? 'deal' : 'ticket'].scopes;
  if (path.includes('/associations/')) return `${read}, crm.objects.contacts.read`;
  return isWrite ? write : read;
}

/** The time until the daily limit is full again, at midnight in the account's zone. With an unknown zone closeloop tries again in an hour. */
export function untilMidnightMs(now: Date, timeZone: string | undefined): number {
  if (timeZone === undefined) return 3_600_000;
  const here = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone);
  return here.add({ days: 1 }).startOfDay().epochMilliseconds - now.getTime();
}
