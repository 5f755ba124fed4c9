import { Temporal } from 'temporal-polyfill';
import type { Quota, RateLimit } from '../../core/connector/contract.ts';
import { headerNumber } from '../../core/connector/quota.ts';
import type { ResponseHeaders } from '../../core/ports.ts';

/** The budget's name for the search endpoint, which has a limit of its own: five calls a second for the whole account. */
export const searchEndpoint = 'search';

/** Responses to searches report no limit. Source: HubSpot, usage guidelines. */
export const unreportedLimits: Readonly<Record<string, Quota>> = {
  [searchEndpoint]: { limit: 5, remaining: 5, resetMs: 1000 },
};

const hourMs = 3_600_000;

/** The limits in a response's headers: of ten seconds, and of the day (not for apps with OAuth). */
export function quotasIn(headers: ResponseHeaders, now: Date, timeZone: string | undefined): RateLimit[] {
  const number = (name: string) => headerNumber(headers, `x-hubspot-ratelimit-${name}`);
  const resetMs = number('interval-milliseconds') || 10_000;
  const window = quota(number('max'), number('remaining'), resetMs);
  const day = quota(number('daily'), number('daily-remaining'), untilMidnightMs(now, timeZone));
  return [...(window ? [window] : []), ...(day ? [{ ...day, name: 'daily' }] : [])];
}

/** A count without its limit is of use only when it is 0. */
function quota(limit: number | undefined, remaining: number | undefined, resetMs: number): Quota | undefined {
  if (remaining === undefined || (limit === undefined && remaining > 0)) return undefined;
  return { limit: limit ?? 1, remaining, resetMs };
}

/** The daily limit is full again at midnight in the account's zone. With an unknown zone closeloop tries again in an hour. */
export function untilMidnightMs(now: Date, timeZone: string | undefined): number {
  if (timeZone === undefined) return hourMs;
  const here = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone);
  return here.add({ days: 1 }).startOfDay().epochMilliseconds - now.getTime();
}
