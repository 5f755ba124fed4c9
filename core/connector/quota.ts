import type { ResponseHeaders } from '../ports.ts';

/**
 * The priority of a call. `background` (polls, backfills) leaves the larger part of a quota to `work`.
 */
export type Urgency = 'work' | 'background';

/** One limit of the vendor, as its headers report it. */
export interface Quota {
  limit: number;
  remaining: number;
  /** Milliseconds until the limit is full again. */
  resetMs: number;
}

/** One of several limits of the account (`daily` …), or of an endpoint with a limit of its own; without a name the account's. */
export type RateLimit = Quota & { name?: string };

/** A bucket of points that refills every second, at vendors that charge a call by its content. */
export interface PointsBucket {
  limit: number;
  available: number;
  perSecond: number;
}

/** A call that costs points, for a number of records that the bucket may lower. */
export interface PointsWanted {
  /** The price before the vendor returns unused points: of the call without a record, and of each record. */
  base: number;
  each: number;
  /** The most and the least (default 1) records. */
  most: number;
  least?: number;
  /** `since` of the first call of the same work: its further calls precede later work. */
  since?: number;
  /** The bucket's size until a response reports it. */
  assumed: Omit<PointsBucket, 'available'>;
}

export interface PointsTaken {
  /** For how many records. */
  records: number;
  since: number;
  /**
   * Call it after the call, with the bucket that the response reports; `unspent` when the request never arrived or was
   * refused; `unknown` otherwise.
   */
  settle(said: PointsBucket | 'unspent' | 'unknown'): Promise<void>;
}

/** The quota of one vendor account, shared by all processes. Before every vendor call: `take`. */
export interface Budget {
  /**
   * Waits for a slot. Throws a transient CloseloopError with `retryAfterMs` and `throttled` when the wait would be long.
   * @param endpoint Names an endpoint with a limit of its own ("search"); the account's own budget is always taken as well.
   */
  take(endpoint?: string, urgency?: Urgency): Promise<void>;
  /**
   * Waits without a limit until the bucket affords the call: the oldest work of all processes first, `background` after `work`.
   * Called before `take`, at vendors that charge in points.
   */
  takePoints(wanted: PointsWanted, urgency?: Urgency): Promise<PointsTaken>;
  /** The vendor asks to pause: no process calls this account (or endpoint) before `ms` have passed. */
  pause(ms: number, endpoint?: string): Promise<void>;
  /**
   * Reports the headers of a response. A used-up quota delays all calls until it is full again, a half-used one those with
   * `background`. @param name one of several limits of the account ("daily" …), or an endpoint, whose calls alone are delayed
   */
  reportRemaining(quota: Quota, name?: string): Promise<void>;
}

/** Reports the limits in the headers of a response to the budget. */
export async function applyRateLimits(budget: Budget, limits: readonly RateLimit[]): Promise<void> {
  for (const { name, ...quota } of limits) await budget.reportRemaining(quota, name);
}

/** A number in a header, whole or decimal (`100.0`); undefined where there is none. */
export function headerNumber(headers: ResponseHeaders, name: string): number | undefined {
  const text = headers.get(name) ?? '';
  return /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

/**
 * The limit that two headers report, for `VendorAccount.rateLimits`; none where one of them is missing.
 * @param resetMs until the limit is full again: as another header says, or the vendor's documented window
 */
export function quotaIn(headers: ResponseHeaders, limit: string, remaining: string, resetMs: number): Quota[] {
  const [total, left] = [headerNumber(headers, limit), headerNumber(headers, remaining)];
  return total === undefined || left === undefined ? [] : [{ limit: total, remaining: left, resetMs }];
}
