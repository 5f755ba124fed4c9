import type { Quota, Urgency } from '../../core/connector/contract.ts';
import type { Answer } from './call.ts';

/** How a call goes about the account's quota. */
export interface Via {
  /** The endpoint has a limit of its own, known to all processes by this name. */
  lane?: string;
  /** Left out: work. */
  urgency?: Urgency;
  /** The lane's next call comes this much later, from whatever process. */
  spacingMs?: number;
}

/** Our names for endpoints that have limits of their own (`zendesk-ratelimit-…`). */
export const updatesLane = 'ticket-updates';
/** All incremental exports together: 10 a minute. A sweep can wait, so it never takes what somebody waits for. */
export const exportsLane = { lane: 'incremental', urgency: 'background' } as const satisfies Via;
/** One update of users a second for the whole account, which no header says. */
export const usersLane = { lane: 'user-updates', spacingMs: 1000 } as const satisfies Via;

/** The account's limit is counted by the minute; so long we wait where Zendesk names no time. */
const aMinuteMs = 60_000;

/** How many update_many may run at once. They end in seconds, so of this limit only the last one matters. */
const jobs = 'zendesk-ratelimit-inflight-jobs';

/** What an answer's headers say is left: of the account's minute, and (the tightest of its limits) of the call's lane. */
export function quotasOf({ headers }: Answer, lane?: string): { quota: Quota; name?: string }[] {
  const account = quotaOf(
    headers['ratelimit-limit'] ?? headers['x-rate-limit'],
    headers['ratelimit-remaining'] ?? headers['x-rate-limit-remaining'],
    headers['ratelimit-reset'],
  );
  const endpoint = endpointQuotas(headers).sort((a, b) => a.remaining - b.remaining)[0];
  return [
    ...(account === undefined ? [] : [{ quota: account }]),
    ...(endpoint === undefined || lane === undefined ? [] : [{ quota: endpoint, name: lane }]),
  ];
}

export interface Pause {
  ms: number;
  /** Only this endpoint; without it the whole account. */
  lane?: string;
}

/**
 * How long nobody may call after a refusal; undefined to go on. On 429 and 503 Retry-After, on a 429 without one the time
 * until a used-up limit is full again, or a minute. A limit of the endpoint alone pauses its lane, where the call had one.
 */
export function pauseAfter(answer: Answer, retryAfterMs: number | undefined, lane?: string): Pause | undefined {
  if (answer.statusCode === 503 && retryAfterMs !== undefined) return { ms: retryAfterMs };
  if (answer.statusCode !== 429) return undefined;
  const account = quotasOf(answer).flatMap(({ quota }) => (quota.remaining === 0 ? [quota] : []));
  const endpoint = endpointQuotas(answer.headers).filter(({ remaining }) => remaining === 0);
  const resets = [...account, ...endpoint].map(({ resetMs }) => resetMs);
  const onlyHere = endpoint.length > 0 && account.length === 0 && lane !== undefined ? { lane } : {};
  return { ms: retryAfterMs ?? (Math.max(0, ...resets) || aMinuteMs), ...onlyHere };
}

function endpointQuotas(headers: Answer['headers']): Quota[] {
  return Object.entries(headers)
    .filter(([name]) => name.startsWith('zendesk-ratelimit-'))
    .flatMap(([name, value]) => {
      const part = (key: string): string | undefined => new RegExp(`${key}=(\\d+)`).exec(value)?.[1];
      const quota = quotaOf(part('total'), part('remaining'), part('resets'));
      return quota === undefined || (name === jobs && quota.remaining > 0) ? [] : [quota];
    });
}

/** Where only what is left is said, nothing is known of the limit but that. */
function quotaOf(limit?: string, remaining?: string, resetSeconds?: string): Quota | undefined {
  const left = Number(remaining ?? Number.NaN);
  if (!Number.isFinite(left)) return undefined;
  const total = Number(limit ?? Number.NaN);
  const seconds = Number(resetSeconds ?? Number.NaN);
  return {
    limit: Number.isFinite(total) ? total : Math.max(1, left),
    remaining: left,
    resetMs: Number.isFinite(seconds) ? seconds * 1000 : aMinuteMs,
  };
}
