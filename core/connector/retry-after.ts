import type { Advice } from '../errors.ts';
import type { ResponseHeaders } from '../ports.ts';

/** A day. A longer time is taken for a mistake. */
const longestMs = 86_400_000;

/**
 * Retry-After in milliseconds from `now`, between 0 and a day; undefined if the header is missing or unreadable. The header holds seconds
 * (also with decimals, as some vendors write them) or a date. Source: RFC 9110 section 10.2.3.
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
