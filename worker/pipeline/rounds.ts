import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';

/** Work that comes again and again: one round at a time, and none any more once it is stopped. */
export class Rounds {
  readonly #work: (isStopped: () => boolean) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #isStopped = false;

  /** @param work a round; a long one looks between two steps whether it is to end */
  constructor(work: (isStopped: () => boolean) => Promise<void>, onError: (error: unknown) => void) {
    this.#work = work;
    this.#onError = onError;
  }

  /** The first round begins now. One that takes longer than `everyMs` leaves out the next. */
  start(everyMs: number): void {
    this.begin();
    this.#timer = setInterval(() => this.begin(), everyMs);
  }

  /** Lets the round that is under way end, for `graceMs` at most: whoever closes Redis afterwards pulls nothing from under it. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    if (!this.#round) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([this.#round, late]);
    clearTimeout(timer);
  }

  /** A round now, unless one is under way or it is stopped. */
  begin(): void {
    if (this.#isStopped) return;
    this.#round ??= this.#work(() => this.#isStopped)
      .catch(this.#onError)
      .finally(() => {
        this.#round = undefined;
      });
  }
}

/** Runs steps of a round. Each by itself: one that fails must hold up neither the other sources nor the alerts. */
export function stepsOf(log: Log, isStopped: () => boolean) {
  return async (source: string, step: string, work: () => Promise<void>): Promise<void> => {
    if (isStopped()) return;
    await work().catch((error: unknown) => log.warn({ source, step, why: messageOf(error) }, 'sweep failed'));
  };
}
