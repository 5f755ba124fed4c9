/** Looks something up; `fresh`: now, not from memory. */
export type LookUp<T> = (fresh?: boolean) => Promise<T>;

/** How long a new, renamed or removed field may go unnoticed. */
const keepMs = 15 * 60_000;

/** Reads at most every 15 minutes, however many ask at once. A failure is told to those who wait for it and not kept. */
export function kept<T>(read: () => Promise<T>, now: () => Date): LookUp<T> {
  let held: { value: Promise<T>; at: number } | undefined;
  return (fresh = false) => {
    const at = now().getTime();
    if (!fresh && held !== undefined && at - held.at < keepMs) return held.value;
    const mine = { value: read(), at };
    held = mine;
    mine.value.catch(() => {
      if (held === mine) held = undefined;
    });
    return mine.value;
  };
}
