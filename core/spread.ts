import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Yields the items, a limited number in one turn of the event loop, so that work on a hundred thousand items does not delay
 * timers and sockets.
 */
export async function* spread<Item>(items: Iterable<Item>, aTurn = 100): AsyncGenerator<Item> {
  let left = aTurn;
  for (const item of items) {
    if (left === 0) {
      await nextTurn();
      left = aTurn;
    }
    left -= 1;
    yield item;
  }
}

/** The items in lists of at most `size`, for commands to Redis of bounded length. */
export function* slices<Item>(items: readonly Item[], size = 500): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

/** The first items; a generator is not asked for more. */
export function firstOf<Item>(items: Iterable<Item>, most: number): Item[] {
  const found: Item[] = [];
  for (const item of items) {
    if (found.length >= most) break;
    found.push(item);
  }
  return found;
}
