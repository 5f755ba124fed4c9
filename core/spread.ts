import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Each of these, so many in one turn of the event loop: what is done with a hundred thousand must not keep timers, sockets and
 * everybody else waiting.
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

/** The same, in lists of at most `size`: as many as one command to Redis may well hold. */
export function* slices<Item>(items: readonly Item[], size = 500): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

/** The first of these; those behind them are not even made. */
export function firstOf<Item>(items: Iterable<Item>, most: number): Item[] {
  const found: Item[] = [];
  for (const item of items) {
    if (found.length >= most) break;
    found.push(item);
  }
  return found;
}
