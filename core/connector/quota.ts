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

/** A limit with a name is one of several limits of the account (`daily` …) or the limit of an endpoint; without a name it is the account's limit. */
export type RateLimit = Quota & { name?: string };

/** A bucket of points that refills every second, at vendors that charge a call by its content. */
export interface PointsBucket {
  limit: number;
  available: number;
  perSecond: number;
}

/** A call that costs points. The bucket may lower the call's number of records. */
export interface PointsWanted {
  /** The price before the vendor returns unused points: `base` for the call without records, `each` for one record. */
  base: number;
  each: number;
  /** The most records, and the fewest (default 1). */
  most: number;
  least?: number;
  /** `since` of the first call of the same work: further calls of that work go before later work. */
  since?: number;
  /** The bucket's assumed size until a response reports it. */
  assumed: Omit<PointsBucket, 'available'>;
}

export interface PointsTaken {
  /** The number of records that the points pay for. */
  records: number;
  since: number;
  /** Settles the points after the call, with the bucket in the response; `unspent` if the request never arrived or was refused; else `unknown`. */
  settle(said: PointsBucket | 'unspent' | 'unknown'): Promise<void>;
}

/** The quota of one vendor account, which all processes share. Every vendor call begins with `take`. */
export interface Budget {
  /**
   * Waits for a slot. Throws a transient CloseloopError with `retryAfterMs` and `throttled` when the wait would be long.
   * @param endpoint Names an endpoint with a limit of its own ("search"); the account's own budget is always taken as well.
   */
  take(endpoint?: string, urgency?: Urgency): Promise<void>;
  /**
   * Waits, however long, until the bucket affords the call: the oldest work of all processes first, `background` after `work`. Called before
   * `take`, at vendors that charge in points.
   */
  takePoints(wanted: PointsWanted, urgency?: Urgency): Promise<PointsTaken>;
  /** The vendor asks to pause: no process calls this account (or endpoint) before `ms` have passed. */
  pause(ms: number, endpoint?: string): Promise<void>;
  /**
   * Reports the headers of a response. A used-up quota delays all calls until it is full again; a quota that is half used delays only calls
   * with `background`.
   * @param name one of several limits of the account ("daily" …), or an endpoint, whose calls alone are delayed
   */
  reportRemaining(quota: Quota, name?: string): Promise<void>;
}

/** A number in a header, whole or decimal (`100.0`); undefined where there is none. */
export function headerNumber(headers: ResponseHeaders, name: string): number | undefined {
  const text = headers.get(name) ?? '';
  return /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

/**
 * The limit that two headers report, for `VendorAccount.rateLimits`; empty if one of the headers is missing.
 * @param resetMs the time until the limit is full again, by another header or the vendor's documented window
 */
export function quotaIn(headers: ResponseHeaders, limit: string, remaining: string, resetMs: number): Quota[] {
  const [total, left] = [headerNumber(headers, limit), headerNumber(headers, remaining)];
  return total === undefined || left === undefined ? [] : [{ limit: total, remaining: left, resetMs }];
}
