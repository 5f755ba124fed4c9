import type { Log } from '../../core/ports.ts';

/** A delivery that was not taken. `source` is undefined for a name that is not in the configuration. */
export interface Refusal {
  source: string | undefined;
  /** The same text for the same cause. No personal data. */
  why: string;
  message: string;
  level: 'warn' | 'error';
  /** An example from the first refusal of this kind, to find the cause. */
  example?: string;
}

/** The most reasons that are counted separately: connectors may put numbers into their reasons. */
const mostKinds = 200;

/**
 * Logs refused deliveries: the first of a source and reason at once, further deliveries once a minute with their number, so that forged
 * deliveries can't fill the disk.
 */
export class Refusals {
  readonly #log: Log;
  readonly #onCounted: (source: string, why: string, count: number) => void;
  readonly #kinds = new Map<string, { refusal: Refusal; unreported: number; uncounted: number }>();

  /** @param onCounted called with the refusals of configured sources: the first of a kind at once, further refusals summed up */
  constructor(log: Log, onCounted: (source: string, why: string, count: number) => void) {
    this.#log = log;
    this.#onCounted = onCounted;
  }

  count(refusal: Refusal): void {
    const isFull = this.#kinds.size >= mostKinds && !this.#kinds.has(keyOf(refusal));
    const counted = isFull ? { ...refusal, why: 'for other reasons' } : refusal;
    const known = this.#kinds.get(keyOf(counted));
    if (known) {
      known.unreported += 1;
      known.uncounted += 1;
      return;
    }
    this.#kinds.set(keyOf(counted), { refusal: counted, unreported: 0, uncounted: 0 });
    const { source, why, message, level, example } = counted;
    if (source !== undefined) this.#onCounted(source, why, 1);
    this.#log[level](
      { ...(source !== undefined && { source }), why, ...(example !== undefined && { example }) },
      message,
    );
  }

  /** To be called once a minute, and at the end. A kind of refusal that has not come again since the last call is forgotten. */
  report(): void {
    for (const [key, kind] of this.#kinds) {
      const { source, why, message, level } = kind.refusal;
      if (source !== undefined && kind.uncounted > 0) this.#onCounted(source, why, kind.uncounted);
      kind.uncounted = 0;
      if (kind.unreported === 0) this.#kinds.delete(key);
      else
        this.#log[level]({ ...(source !== undefined && { source }), why, times: kind.unreported }, `${message}, again`);
      kind.unreported = 0;
    }
  }
}

function keyOf({ source, why, message }: Refusal): string {
  return JSON.stringify([source ?? null, message, why]);
}
