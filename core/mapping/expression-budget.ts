import { type Failure, limits } from './expression-limits.ts';

/** The failure of a value that is too large. JSONata, through which it is thrown, adds the position. */
export const tooMuch = (): Failure => ({ code: 'too-much' });

/**
 * The time and memory that one evaluation may still use. Only CPU time during the evaluation's turns counts: a suspended process or a
 * busy machine must not stop an expression.
 */
export class Budget {
  readonly #timeMs: number;
  #spentMs = 0;
  #made = 0;
  #lookAt = 0;
  #cpuMs: number | undefined;
  #isOver = false;

  constructor(timeMs: number) {
    this.#timeMs = timeMs;
  }

  /**
   * The first turn ends by the clock, and CPU time is measured only from then on: nearly every evaluation has ended by then, and a measurement
   * takes as long as a small evaluation.
   */
  beginTurn(): void {
    this.#cpuMs = this.#lookAt === 0 ? undefined : cpuMs();
    this.#lookAt = performance.now() + limits.turnMs;
    this.#isOver = false;
  }

  endTurn(): void {
    if (this.#cpuMs !== undefined) this.#spentMs += cpuMs() - this.#cpuMs;
  }

  /** Whether other work should have its turn. @throws Failure when the time is used up */
  tick(): boolean {
    const now = performance.now();
    if (now < this.#lookAt) return this.#isOver;
    this.#lookAt = now + limits.turnMs;
    const cpu = cpuMs();
    const usedMs = cpu - (this.#cpuMs ?? cpu);
    if (this.#spentMs + usedMs >= this.#timeMs) throw { code: 'time' } satisfies Failure;
    this.#isOver ||= this.#cpuMs === undefined || usedMs >= limits.turnMs;
    this.#cpuMs ??= cpu;
    return this.#isOver;
  }

  /** Counts entries that were made. @throws Failure when all entries together need too much memory */
  make(entries: number): void {
    this.#made += entries;
    if (this.#made > limits.made) throw { code: 'memory' } satisfies Failure;
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Throws for a value that is too large to traverse: a list may hold the same large value many times, and so may its entries. */
export function measure(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  let left: number = limits.values;
  const open: object[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (isFunction(one)) continue;
    const entries: unknown[] = Array.isArray(one) ? one : Object.values(one);
    left -= 1 + entries.length;
    if (left < 0) throw tooMuch();
    for (const entry of entries) if (typeof entry === 'object' && entry !== null) open.push(entry);
  }
}

/** Throws for a value whose JSON would be too long. @param space characters by which each level is indented */
export function measureText(value: unknown, space: number): void {
  let left: number = limits.text;
  const open: [value: unknown, depth: number][] = [[value, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [one, depth] = next;
    left -= 2 + space * depth + (typeof one === 'string' ? one.length : 0);
    if (typeof one === 'object' && one !== null) {
      const keys = Object.keys(one);
      left -= keys.length;
      if (left < 0) throw tooMuch();
      for (const key of keys) {
        if (!Array.isArray(one)) left -= key.length + 3;
        open.push([Reflect.get(one, key), depth + 1]);
      }
    }
    if (left < 0) throw tooMuch();
  }
}

/** Whether a value is a function, or has the marks of a function of JSONata: a record may have these marks, and is then not traversed. */
export function isFunction(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'function';
  return (
    ('_jsonata_function' in value && value._jsonata_function === true) ||
    ('_jsonata_lambda' in value && value._jsonata_lambda === true)
  );
}
