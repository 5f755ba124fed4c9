/**
 * What `load` gave, for so long as it counts as fresh.
 * @param loadedAfter loads again what was loaded before that moment; `now`: in any case
 */
export type Cached<T> = (loadedAfter?: Date | 'now') => Promise<T>;

/** Loads at most once in `ttlMs`, however many ask at once. A failure is told to those who wait for it, and is not kept. */
export function cached<T>(load: () => Promise<T>, ttlMs: number, now: () => Date): Cached<T> {
  let current: { value: Promise<T>; at: number } | undefined;
  return (loadedAfter) => {
    const at = now().getTime();
    const isFresh = (since: number): boolean => since >= (loadedAfter === undefined ? 0 : Number(loadedAfter));
    if (current !== undefined && loadedAfter !== 'now' && at - current.at <= ttlMs && isFresh(current.at)) {
      return current.value;
    }
    const mine = { value: load(), at };
    current = mine;
    mine.value.catch(() => {
      if (current === mine) current = undefined;
    });
    return mine.value;
  };
}
