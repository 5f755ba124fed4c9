import type { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { Operation, Request, ShopifyApi } from './api.ts';

/** The items of one call with its data, or the error of all of them. */
export type Page<Item, Data> =
  | { items: readonly Item[]; data: Data; failures: ReadonlyMap<string, CloseloopError> }
  | { items: readonly Item[]; error: CloseloopError };

/**
 * Calls for many items, one call after the other, each with as many items as the points afford. When a call fails after others
 * succeeded, the last page has its error, its items and all remaining items. @throws when the first call fails
 * @param weightOf the number of entries of an item, which stay together; default 1
 */
export async function* inPages<Item, S extends z.ZodType>(
  api: ShopifyApi,
  operation: Operation<S>,
  items: readonly Item[],
  requestOf: (items: readonly Item[]) => Request,
  weightOf: (item: Item) => number = () => 1,
): AsyncGenerator<Page<Item, z.output<S>>> {
  let since: number | undefined;
  for (let start = 0; start < items.length; ) {
    const rest = items.slice(start);
    const [first] = rest;
    const size = {
      most: rest.reduce((sum, item) => sum + weightOf(item), 0),
      least: first === undefined ? 1 : weightOf(first),
      ...(since !== undefined && { since }),
    };
    let page: readonly Item[] = [];
    try {
      const answer = await api.callSized(operation, size, (entries) => {
        page = within(rest, entries, weightOf);
        return requestOf(page);
      });
      since = answer.since;
      yield { items: page, data: answer.data, failures: answer.failures };
    } catch (error) {
      if (start === 0 || !(error instanceof CloseloopError)) throw error;
      yield { items: rest, error };
      return;
    }
    start += page.length;
  }
}

/** The first items with at most so many entries; at least one item. */
function within<Item>(items: readonly Item[], entries: number, weightOf: (item: Item) => number): readonly Item[] {
  let sum = 0;
  const end = items.findIndex((item) => {
    sum += weightOf(item);
    return sum > entries;
  });
  return end === -1 ? items : items.slice(0, Math.max(1, end));
}
