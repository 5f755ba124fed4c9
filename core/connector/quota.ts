/**
 * What a call is for. Sweeps (`background`: polls, backfills) leave the larger part of a quota to those for whom a
 * person waits.
 */
export type Urgency = 'work' | 'background';

/** What the vendor's headers say is left of one of its limits. */
export interface Quota {
  limit: number;
  remaining: number;
  /** Milliseconds until it is full again. */
  resetMs: number;
}

/** One of several limits of the account (`daily` …), or of an endpoint with a limit of its own; without a name the account's. */
export type RateLimit = Quota & { name?: string };

/** A bucket of points that fills up again by the second, as vendors have it that charge a call for what it asks. */
export interface PointsBucket {
  limit: number;
  available: number;
  perSecond: number;
}

/** A call that is charged in points, for a number of records that the bucket may lower. */
export interface PointsWanted {
  /** At most, and before the vendor gives back what the call didn't need: without a record, and for each. */
  base: number;
  each: number;
  /** Records: not more, and not fewer (default 1) than so many. */
  most: number;
  least?: number;
  /** Of the first call of the same work: the rest of it goes on before what came after it. */
  since?: number;
  /** What the bucket is taken for until an answer has told. */
  assumed: Omit<PointsBucket, 'available'>;
}

export interface PointsTaken {
  /** For how many records. */
  records: number;
  since: number;
  /**
   * To be called when the call is over: what its answer says of the bucket; `unspent` when the vendor never got it or
   * refused it; `unknown` otherwise.
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
   * Waits until the bucket affords the call, however long: the oldest work of all processes first, and `background` behind
   * `work`. Before `take`, at vendors that charge in points.
   */
  takePoints(wanted: PointsWanted, urgency?: Urgency): Promise<PointsTaken>;
  /** The vendor told us to stop: no call of this account (or endpoint), from any process, before `ms` have passed. */
  pause(ms: number, endpoint?: string): Promise<void>;
  /**
   * What an answer's headers say. A used-up quota holds everybody back until it is full again, a half-used one the
   * background. @param name One of several limits of the account: "daily" …; or an endpoint, and then it holds for that.
   */
  reportRemaining(quota: Quota, name?: string): Promise<void>;
}

/** Tells the budget what the headers of an answer say. */
export async function applyRateLimits(budget: Budget, limits: readonly RateLimit[]): Promise<void> {
  for (const { name, ...quota } of limits) await budget.reportRemaining(quota, name);
}

/** A whole number in a header; undefined where there is none. */
export function headerNumber(headers: Headers, name: string): number | undefined {
  const text = headers.get(name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
