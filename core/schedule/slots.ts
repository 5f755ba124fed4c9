/** Open time, half-open, in epoch milliseconds. */
export interface Stretch {
  from: number;
  until: number;
}

export function lengthOf(open: readonly Stretch[]): number {
  return open.reduce((sum, { from, until }) => sum + until - from, 0);
}

/**
 * The beginning of the n-th (from 0) of `count` slots, which are spread evenly over the open time: the first slot begins with the open
 * time, and closed hours don't count. Undefined for a slot that does not exist.
 */
export function slotAt(n: number, count: number, open: readonly Stretch[]): number | undefined {
  if (n < 0 || n >= count) return undefined;
  let ahead = Math.floor((n * lengthOf(open)) / count);
  for (const { from, until } of open) {
    if (ahead < until - from) return from + ahead;
    ahead -= until - from;
  }
  return undefined;
}

/**
 * The open part of an hour. If there are several open parts, closed times between them may count as open, or only a part of them is found.
 * @param opensAt returns the first open instant that is not before the given instant
 */
export function openPart({ from, until }: Stretch, opensAt: (epochMs: number) => number): Stretch | undefined {
  const opens = opensAt(from);
  if (opens >= until) return undefined;
  let [open, closed] = [opens, until];
  if (opensAt(until - 1) === until - 1) return { from: opens, until };
  while (closed - open > 1) {
    const middle = Math.floor((open + closed) / 2);
    if (opensAt(middle) === middle) open = middle;
    else closed = middle;
  }
  return { from: opens, until: closed };
}
