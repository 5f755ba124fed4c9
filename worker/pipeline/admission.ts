import { setTimeout as sleep } from 'node:timers/promises';
import type { Down, Outage } from '../operations/outage.ts';

/** How often the job in hand looks whether the endpoint is back, or it is its turn to find out. Real time. */
const lookEveryMs = 250;
/** Until a job that was begun too many comes again. Real time. */
const comeAgainMs = 2_000;

type Admission =
  /** `done` is called at the job's end, whatever that is; `hasWaited`: in hand, until its endpoint was back or had to be tried. */
  | { may: 'run'; hasWaited: boolean; done: () => Promise<void> }
  /** Put it back: another job of the stage is in hand already, or the process is about to end. Real time. */
  | { may: 'wait'; delayMs: number };

type Endpoint = Pick<Outage, 'down' | 'takeProbe'>;

/**
 * Lets no job begin while an endpoint that it may call is down: one is held in hand, all others stay in the queue and cost
 * nothing. The one in hand begins when its turn comes to find out (one at a time, over all stages and processes), or when
 * the endpoint is back; then all go on.
 */
export class Door {
  readonly #endpoints: readonly Endpoint[];
  readonly #concurrency: number;
  readonly #setConcurrency: (jobs: number) => void;
  readonly #random: () => number;
  #isNarrow = false;
  #isOneInHand = false;
  #isClosing = false;

  constructor(options: {
    endpoints: readonly Endpoint[];
    concurrency: number;
    /** So many jobs may be in hand from now on. */
    setConcurrency: (jobs: number) => void;
    random: () => number;
  }) {
    this.#endpoints = options.endpoints;
    this.#concurrency = options.concurrency;
    this.#setConcurrency = options.setConcurrency;
    this.#random = options.random;
  }

  /** What is down of that which the stage's jobs call. */
  async down(): Promise<Down | undefined> {
    return (await this.#find())?.down;
  }

  /** @param token of the job */
  async admit(token: string): Promise<Admission> {
    if (!(await this.#find())) return this.#open({ hasWaited: false });
    this.#narrow(true);
    if (this.#isOneInHand) return { may: 'wait', delayMs: comeAgainMs * (1 + this.#random()) };
    this.#isOneInHand = true;
    try {
      for (;;) {
        if (this.#isClosing) return { may: 'wait', delayMs: 0 };
        const found = await this.#find();
        if (!found) return this.#open({ hasWaited: true });
        const { endpoint, down } = found;
        const endProbe = down.untilProbeMs === 0 ? await endpoint.takeProbe(token) : undefined;
        if (endProbe) {
          // Another job may have found out since this process looked.
          if ((await endpoint.down({ now: true }))?.untilProbeMs === 0)
            return { may: 'run', hasWaited: true, done: endProbe };
          await endProbe();
        }
        await sleep(lookEveryMs);
      }
    } finally {
      this.#isOneInHand = false;
    }
  }

  /** Nobody waits in hand any longer. */
  close(): void {
    this.#isClosing = true;
  }

  #open({ hasWaited }: { hasWaited: boolean }): Admission {
    this.#narrow(false);
    return { may: 'run', hasWaited, done: async () => undefined };
  }

  #narrow(isNarrow: boolean): void {
    if (this.#isNarrow === isNarrow) return;
    this.#isNarrow = isNarrow;
    this.#setConcurrency(isNarrow ? 1 : this.#concurrency);
  }

  async #find() {
    for (const endpoint of this.#endpoints) {
      const down = await endpoint.down();
      if (down) return { endpoint, down };
    }
    return undefined;
  }
}
