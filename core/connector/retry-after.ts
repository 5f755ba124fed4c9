/** A day: a longer time is a mistake and would block the account. */
const longestMs = 86_400_000;

/**
 * Retry-After in milliseconds from `now`, a day at most, never negative; undefined where there is none, or none that can be
 * read. Seconds (also with decimals, as vendors write them) or a date. Source: RFC 9110 section 10.2.3.
 */
export function retryAfterMs(header: string | null | undefined, now: Date): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.min(longestMs, Math.ceil(Number(value) * 1000));
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.min(longestMs, Math.max(0, at - now.getTime()));
}
