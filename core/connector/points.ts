import { CloseloopError } from '../errors.ts';
import type { Budget, PointsBucket, PointsTaken, Urgency } from './quota.ts';
import type { HttpResponse } from './send.ts';
import type { VendorApi, VendorCall } from './vendor-api.ts';

/* Calls to a vendor that charges in points: each call first takes its points, and has as many entries (records, changes) as the points afford. */

/** A call's name, and its price in points before it runs: a base price, and a price for each entry. */
export interface PricedCall {
  name: string;
  price: { base: number; each: number };
}

/** The bounds for the number of entries in a call; the available points decide the number. */
export interface EntryBounds {
  most: number;
  least?: number;
  /** `since` of an earlier call of the same work: this call keeps its place in the queue. */
  since?: number;
}

export interface PointsRules {
  /** The bucket of the smallest plan, assumed until a response shows the real bucket. */
  assumed: Omit<PointsBucket, 'available'>;
  /** The highest cost and the most entries of one call. */
  most: { points: number; entries: number };
  /** Reads from a response the points that the vendor charged for the call before it ran, and the bucket after it. */
  told(response: HttpResponse): { charged?: number | undefined; bucket?: PointsBucket | undefined };
}

export interface PaidResponse {
  response: HttpResponse;
  entries: number;
  since: number;
}

/** Takes the points, sends the call, and settles the points by the response before anything else. One attempt each. */
export function pointsSender(api: Pick<VendorApi, 'exchange'>, budget: Budget, { assumed, most, told }: PointsRules) {
  /** Corrections of prices by call: the documented prices are not exact and change, so each response's cost corrects the price of its call. */
  const factors = new Map<string, number>();

  async function sendPaid(call: VendorCall, { name, price }: PricedCall, paid: PointsTaken): Promise<HttpResponse> {
    let said: PointsBucket | 'unspent' | 'unknown' = 'unknown';
    try {
      const response = await api.exchange(call);
      const { charged, bucket } = told(response);
      said = bucket ?? (response.status < 500 ? 'unspent' : 'unknown');
      if (charged !== undefined) factors.set(name, charged / (price.base + paid.records * price.each));
      return response;
    } catch (error) {
      if (error instanceof CloseloopError && error.outcome === 'never-sent') said = 'unspent';
      throw error;
    } finally {
      await paid.settle(said);
    }
  }

  return async function send(
    priced: PricedCall,
    { most: wanted, least = 1, since }: EntryBounds,
    callOf: (entries: number) => VendorCall,
    urgency: Urgency,
  ): Promise<PaidResponse> {
    const factor = factors.get(priced.name) ?? 1;
    const [base, each] = [priced.price.base * factor, priced.price.each * factor];
    const room = each === 0 ? 1 : Math.max(1, Math.min(most.entries, Math.floor((most.points - base) / each)));
    const bounds = { least, most: Math.max(least, Math.min(wanted, room)), ...(since !== undefined && { since }) };
    const paid = await budget.takePoints({ base, each, ...bounds, assumed }, urgency);
    const response = await sendPaid(callOf(paid.records), priced, paid);
    return { response, entries: paid.records, since: paid.since };
  };
}

/** The items of one call with its result, or with their common error. */
interface Paid<Item, Answer> {
  items: readonly Item[];
  answer?: Answer;
  error?: CloseloopError;
}

/**
 * Makes calls for many items, one call after the other, each with as many items as the points afford. If a call fails after other calls
 * succeeded, the last result has the error with the items of this call and all remaining items. @throws if the first call fails
 * @param weightOf the number of an item's entries, which stay in one call; default 1
 */
export async function* inPaidCalls<Item, Answer extends { since: number }>(
  items: readonly Item[],
  send: (bounds: EntryBounds, itemsFor: (entries: number) => readonly Item[]) => Promise<Answer>,
  weightOf: (item: Item) => number = () => 1,
): AsyncGenerator<Paid<Item, Answer>> {
  let kept: { since?: number } = {};
  for (let rest = items; rest.length > 0; ) {
    const weights = rest.map(weightOf);
    const bounds = { most: weights.reduce((sum, one) => sum + one, 0), least: weights[0] ?? 1, ...kept };
    let some: readonly Item[] = [];
    try {
      const answer = await send(bounds, (entries) => {
        some = rest.slice(0, countWithin(weights, entries));
        return some;
      });
      kept = { since: answer.since };
      yield { items: some, answer };
    } catch (error) {
      if (rest === items || !(error instanceof CloseloopError)) throw error;
      yield { items: rest, error };
      return;
    }
    rest = rest.slice(some.length);
  }
}

/** How many of the first items fit into this number of entries; at least one. */
function countWithin(weights: readonly number[], entries: number): number {
  let sum = 0;
  const end = weights.findIndex((weight) => {
    sum += weight;
    return sum > entries;
  });
  return end === -1 ? weights.length : Math.max(1, end);
}
