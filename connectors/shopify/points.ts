/** Shopify refuses a call that could cost more than 1,000 points; the difference is for the fields around the records. */
const mostPoints = 950;
/** Ids in one call. */
const mostIds = 250;

/** The points of a call before its execution: without an entry, and for each entry. */
export interface Price {
  base: number;
  each: number;
}

/** The bucket of the smallest plan, which is assumed until the shop's first response. */
export const smallestPlan = { limit: 1_000, perSecond: 50 };

/**
 * Prices of operations, by name. Shopify's counting changes and its documentation is not exact, so the cost in each response
 * corrects the price.
 */
export class Prices {
  readonly #factors = new Map<string, number>();

  /** The present price, and how many entries a call may have at it. */
  of(operation: string, { base, each }: Price): Price & { mostEntries: number } {
    const factor = this.#factors.get(operation) ?? 1;
    const room = Math.floor((mostPoints - base * factor) / (each * factor));
    const mostEntries = each === 0 ? 1 : Math.max(1, Math.min(mostIds, room));
    return { base: base * factor, each: each * factor, mostEntries };
  }

  /** @param entries of the call that was charged with `points` before it ran */
  learn(operation: string, { base, each }: Price, entries: number, points: number): void {
    this.#factors.set(operation, points / (base + entries * each));
  }
}
