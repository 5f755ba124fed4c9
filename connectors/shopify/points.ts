/** Shopify refuses a call that could cost more than 1,000 points; some are left for what stands around the records. */
const mostPoints = 950;
/** Ids in one call. */
const mostIds = 250;

/** What a call may cost: without an entry, and for each. Points, as the documents are counted beforehand. */
export interface Price {
  base: number;
  each: number;
}

/** The bucket of the smallest plan that ever was: what a shop is taken for until it has answered. */
export const smallestPlan = { limit: 1_000, perSecond: 50 };

/**
 * Prices of operations, by name. Shopify's own counting changes, and no document of it is exact: what it says a call was
 * charged corrects the price from then on.
 */
export class Prices {
  readonly #factors = new Map<string, number>();

  /** As learnt so far, and how many entries a call may have at that. */
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
