/**
 * Keeps what `load` gives for `ttlMs`. Callers at the same time share one load; a failed one is forgotten.
 * `get(loadedAfter)` loads again if what is kept was loaded before that.
 */
export interface Memory<T> {
  get(loadedAfter?: Date): Promise<T>;
}

export function remember<T>(load: () => Promise<T>, ttlMs: number, now: () => Date): Memory<T> {
  let kept: { value: Promise<T>; at: number } | undefined;
  return {
    get(loadedAfter) {
      const freshFrom = Math.max(now().getTime() - ttlMs, loadedAfter?.getTime() ?? 0);
      if (kept !== undefined && kept.at >= freshFrom) return kept.value;
      const mine = { value: load(), at: now().getTime() };
      kept = mine;
      mine.value.catch(() => {
        if (kept === mine) kept = undefined;
      });
      return mine.value;
    },
  };
}
