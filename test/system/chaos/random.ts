/** A source of chance that its seed determines wholly: the same seed gives the same numbers on every machine. */
export interface Chance {
  /** 0 ≤ x < 1 */
  next(): number;
  /** A whole number, both ends included. */
  int(least: number, most: number): number;
  /** True with this probability. */
  happens(probability: number): boolean;
  /** One of them. */
  of<T>(list: readonly [T, ...T[]]): T;
  /** An independent source, so that drawing more numbers for one purpose doesn't shift those of another. */
  fork(name: string): Chance;
}

/** Mulberry32: 32 bits of state, enough for a plan. Source: Tommy Ettinger, public domain. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    int,
    happens: (probability) => next() < probability,
    of: (list) => list[int(0, list.length - 1)] ?? list[0],
    fork: (name) => chanceOf(seed ^ hash(name)),
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (const char of text) sum = Math.imul(sum ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return sum;
}
