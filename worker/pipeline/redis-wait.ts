import { setTimeout as sleep } from 'node:timers/promises';
import { isRedisUnavailable } from '../redis/unavailable.ts';

/** How often Redis is probed while it accepts no writes. Jobs spend no attempt on that. Real time. */
export const tryRedisEveryMs = 1_000;

interface Pausable {
  pause(doNotWaitActive: boolean): Promise<void>;
  resume(): unknown;
}

/** Holds back jobs while Redis accepts no writes. */
export class RedisWait {
  readonly #probe: () => Promise<unknown>;
  #over: Promise<void> | undefined;

  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  /** Resolves when Redis accepts writes again. */
  over(worker: Pausable | undefined): Promise<void> {
    this.#over ??= this.#untilWritable(worker).finally(() => {
      this.#over = undefined;
    });
    return this.#over;
  }

  async #untilWritable(worker: Pausable | undefined): Promise<void> {
    await worker?.pause(true);
    const isRefused = () => this.#probe().then(() => false, isRedisUnavailable);
    do await sleep(tryRedisEveryMs);
    while (await isRefused());
    await worker?.resume();
  }
}
