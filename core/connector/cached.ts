/**
 * Returns the loaded value while it is fresh.
 * @param loadedAfter reloads a value that was loaded before this instant; `now` always reloads
 */
export type Cached<T> = (loadedAfter?: Date | 'now') => Promise<T>;

/** Caches what `load` returns for `ttlMs`. Concurrent callers share one load. A load that fails rejects for them and is not cached. */
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
