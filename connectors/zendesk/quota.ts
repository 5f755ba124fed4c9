import type { Quota, RateLimit, Urgency } from '../../core/connector/contract.ts';
import type { ResponseHeaders } from '../../core/ports.ts';

/** A call's endpoint and urgency, for the account's budget. */
export interface Via {
  /** The endpoint has a limit of its own, known to all processes by this name. */
  endpoint?: string;
  /** Default: work. */
  urgency?: Urgency;
  headers?: Readonly<Record<string, string>>;
}

export const ticketUpdates = { endpoint: 'ticket-updates' } as const satisfies Via;
/** All incremental exports together: 10 a minute. Sweeps have the lower urgency. */
export const incrementalExports = { endpoint: 'incremental', urgency: 'background' } as const satisfies Via;
export const userUpdates = { endpoint: 'user-updates' } as const satisfies Via;

/** Limits that no header reports: one update of users a second for the whole account. */
export const unreportedLimits: Readonly<Record<string, Quota>> = {
  [userUpdates.endpoint]: { limit: 1, remaining: 1, resetMs: 1000 },
};

/** The window of the account's limit: the pause where Zendesk names no time. */
const aMinuteMs = 60_000;

/** How many update_many jobs may run at once. They end in seconds, so only a used-up limit matters. */
const jobs = 'zendesk-ratelimit-inflight-jobs';

/** How often one ticket may be changed says nothing about changes of the others. */
const perTicket = /-per-ticket$/;

/** The limits in a response's headers: of the account's minute, and the tightest limit of the call's endpoint. */
export function rateLimitsIn(headers: ResponseHeaders, endpoint: string | undefined): RateLimit[] {
  const tightest = endpointQuotas(headers, (name) => !perTicket.test(name)).sort(
    (a, b) => a.remaining - b.remaining,
  )[0];
  return [
    ...accountQuotas(headers),
    ...(tightest === undefined || endpoint === undefined ? [] : [{ ...tightest, name: endpoint }]),
  ];
}

/** The used-up limits. */
export function usedUpQuotas(headers: ResponseHeaders): { account: Quota[]; endpoint: Quota[] } {
  const isUsedUp = ({ remaining }: Quota): boolean => remaining === 0;
  return { account: accountQuotas(headers).filter(isUsedUp), endpoint: endpointQuotas(headers).filter(isUsedUp) };
}

function accountQuotas(headers: ResponseHeaders): Quota[] {
  return quotaOf(
    headers.get('ratelimit-limit') ?? headers.get('x-rate-limit'),
    headers.get('ratelimit-remaining') ?? headers.get('x-rate-limit-remaining'),
    headers.get('ratelimit-reset'),
  );
}

function endpointQuotas(headers: ResponseHeaders, counts: (name: string) => boolean = () => true): Quota[] {
  return [...headers]
    .filter(([name]) => name.startsWith('zendesk-ratelimit-') && counts(name))
    .flatMap(([name, value]) => {
      const part = (key: string) => new RegExp(`${key}=(\\d+)`).exec(value)?.[1] ?? null;
      const quotas = quotaOf(part('total'), part('remaining'), part('resets'));
      return quotas.filter(({ remaining }) => name !== jobs || remaining === 0);
    });
}

/** Where Zendesk reports only the remaining calls, they count as the limit. */
function quotaOf(limit: string | null, remaining: string | null, resetSeconds: string | null): Quota[] {
  const left = Number(remaining ?? Number.NaN);
  if (!Number.isFinite(left)) return [];
  const total = Number(limit ?? Number.NaN);
  const seconds = Number(resetSeconds ?? Number.NaN);
  return [
    {
      limit: Number.isFinite(total) ? total : Math.max(1, left),
      remaining: left,
      resetMs: Number.isFinite(seconds) ? seconds * 1000 : aMinuteMs,
    },
  ];
}
