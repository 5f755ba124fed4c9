import type { Advice } from '../errors.ts';
import type { ResponseHeaders } from '../ports.ts';

/** A day: a longer time is a mistake. */
const longestMs = 86_400_000;

/**
 * Retry-After in milliseconds from `now`, a day at most, never negative; undefined where there is none, or none that can be
 * read. Seconds (also with decimals, as vendors write them) or a date. Source: RFC 9110 section 10.2.3.
 */
export function retryAfterMs(headers: Pick<ResponseHeaders, 'get'>, now: Date): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.min(longestMs, Math.ceil(Number(value) * 1000));
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.min(longestMs, Math.max(0, at - now.getTime()));
}

/** The advice of a response after which the same call may succeed later. */
export function transientAfter(headers: ResponseHeaders, now: Date): Advice & { kind: 'transient' } {
  const waitMs = retryAfterMs(headers, now);
  return { kind: 'transient', ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
}
