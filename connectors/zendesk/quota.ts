import type { Answer } from './call.ts';

/** Our name for the endpoint whose own limits (`zendesk-ratelimit-…`: jobs at once, updates a minute) hold for write-backs. */
export const updatesLane = 'ticket-updates';

export interface Pause {
  ms: number;
  /** Only this endpoint; without it the whole account. */
  lane?: string;
}

/** The account's limit is counted by the minute; so long we wait where Zendesk names no time. */
const aMinuteMs = 60_000;

/**
 * How long nobody may call after this answer; undefined to go on.
 * On 429 and 503 Retry-After (or a minute after a 429 without one), else the time until a used-up limit is full again.
 * A limit of the endpoint alone pauses its lane, where the call had one.
 */
export function pauseAfter(
  { statusCode, headers }: Answer,
  retryAfterMs: number | undefined,
  lane?: string,
): Pause | undefined {
  const account = usedUp(
    headers['ratelimit-remaining'] ?? headers['x-rate-limit-remaining'],
    headers['ratelimit-reset'],
  );
  const endpoint = Object.entries(headers)
    .filter(([name]) => name.startsWith('zendesk-ratelimit-'))
    .map(([, value]) => usedUp(/remaining=(\d+)/.exec(value)?.[1], /resets=(\d+)/.exec(value)?.[1]))
    .reduce((longest, ms) => Math.max(longest, ms), 0);

  const onlyHere = endpoint > 0 && account === 0 && lane !== undefined ? { lane } : {};
  if (statusCode === 429) return { ms: retryAfterMs ?? (Math.max(account, endpoint) || aMinuteMs), ...onlyHere };
  if (statusCode === 503 && retryAfterMs !== undefined) return { ms: retryAfterMs };
  const ms = Math.max(account, endpoint);
  return ms > 0 ? { ms, ...onlyHere } : undefined;
}

/** Milliseconds until there is something left again; 0 while there is. */
function usedUp(remaining: string | undefined, resetSeconds: string | undefined): number {
  if (remaining === undefined || Number(remaining) !== 0) return 0;
  const seconds = Number(resetSeconds ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : aMinuteMs;
}
