import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';

/** Repeated work: one round at a time, until it is stopped. */
export class Rounds {
  readonly #work: (isStopped: () => boolean) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #isStopped = false;

  /** @param work one round; a long round checks between two steps whether it is stopped */
  constructor(work: (isStopped: () => boolean) => Promise<void>, onError: (error: unknown) => void) {
    this.#work = work;
    this.#onError = onError;
  }

  /** Begins the first round now. A round that takes longer than `everyMs` replaces the next. */
  start(everyMs: number): void {
    this.begin();
    this.#timer = setInterval(() => this.begin(), everyMs);
  }

  /** Waits up to `graceMs` for the current round, so that Redis can be closed afterwards. */
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

  /** Begins a round now, unless a round is under way or the rounds are stopped. */
  begin(): void {
    if (this.#isStopped) return;
    this.#round ??= this.#work(() => this.#isStopped)
      .catch(this.#onError)
      .finally(() => {
        this.#round = undefined;
      });
  }
}

/** Runs the steps of a round. A step that fails is logged, and holds up no other step. */
export function stepsOf(log: Log, isStopped: () => boolean) {
  return async (source: string, step: string, work: () => Promise<void>): Promise<void> => {
    if (isStopped()) return;
    await work().catch((error: unknown) => log.warn({ source, step, why: messageOf(error) }, 'sweep failed'));
  };
}
