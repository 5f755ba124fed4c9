import { setTimeout as sleep } from 'node:timers/promises';
import type { Down, Outage } from '../operations/outage.ts';

/** How often the held job checks whether the endpoint is back, and whether it may probe the endpoint. Real time. */
const checkEveryMs = 250;
/** A job that goes back to the queue waits at least this long, and at most twice as long. Real time. */
const retryLaterMs = 2_000;

type Admission =
  /** Call `done` when the job has ended, also with an error. `hasWaited`: the job was held until its endpoint was back, or had to be probed. */
  | { may: 'run'; hasWaited: boolean; done: () => Promise<void> }
  /** The job goes back to the queue: another job of the stage is held already, the job may not be held, or the process is ending. Real time. */
  | { may: 'wait'; delayMs: number };

type Endpoint = Pick<Outage, 'down' | 'takeProbe'>;

/**
 * Lets no job begin while an endpoint that it may call is down. The process holds one job; all others stay in the queue. The held job begins
 * when it may probe the endpoint (one job at a time, over all stages and processes), or when the endpoint is back. Then all jobs go on.
 */
export class Gate {
  readonly #endpoints: readonly Endpoint[];
  readonly #narrow: (isNarrow: boolean) => void;
  readonly #random: () => number;
  #isOneInHand = false;
  #isClosing = false;

  constructor(options: {
    endpoints: readonly Endpoint[];
    /** Makes the stage run a single job at once, or as many as it may. */
    narrow: (isNarrow: boolean) => void;
    random: () => number;
  }) {
    this.#endpoints = options.endpoints;
    this.#narrow = options.narrow;
    this.#random = options.random;
  }

  /** How an endpoint of the stage is down, if any is. */
  async down(): Promise<Down | undefined> {
    return (await this.#find())?.down;
  }

  /**
   * @param token of the job
   * @param options `mayWait`: whether the job may be held; else it goes back to the queue
   */
  async admit(token: string, { mayWait = true }: { mayWait?: boolean } = {}): Promise<Admission> {
    if (!(await this.#find())) return this.#open({ hasWaited: false });
    this.#narrow(true);
    if (this.#isOneInHand) return { may: 'wait', delayMs: this.laterMs() };
    this.#isOneInHand = true;
    try {
      for (;;) {
        if (this.#isClosing) return { may: 'wait', delayMs: 0 };
        const found = await this.#find();
        if (!found) return this.#open({ hasWaited: true });
        const { endpoint, down } = found;
        const endProbe = down.untilProbeMs === 0 ? await endpoint.takeProbe(token) : undefined;
        if (endProbe) {
          // Another job may have probed the endpoint since this process checked.
          if ((await endpoint.down({ now: true }))?.untilProbeMs === 0)
            return { may: 'run', hasWaited: true, done: endProbe };
          await endProbe();
        }
        if (!mayWait) return { may: 'wait', delayMs: this.laterMs() };
        await sleep(checkEveryMs);
      }
    } finally {
      this.#isOneInHand = false;
    }
  }

  /** How long a job that goes back to the queue waits, with jitter. Real time. */
  laterMs(): number {
    return retryLaterMs * (1 + this.#random());
  }

  /** Shortens a wait while an endpoint is down: no job is admitted before the endpoint is back, and then the job should be ready. */
  async within(delayMs: number): Promise<number> {
    return (await this.#find()) ? Math.min(delayMs, this.laterMs()) : delayMs;
  }

  /** Releases the held job. */
  close(): void {
    this.#isClosing = true;
  }

  #open({ hasWaited }: { hasWaited: boolean }): Admission {
    this.#narrow(false);
    return { may: 'run', hasWaited, done: async () => undefined };
  }

  async #find() {
    for (const endpoint of this.#endpoints) {
      const down = await endpoint.down();
      if (down) return { endpoint, down };
    }
    return undefined;
  }
}

/**
 * How many jobs a stage may run at once. The limit counts the pieces of data in the jobs. BullMQ counts jobs, and fetches all jobs that
 * it may run before it begins the first job.
 *
 * A fetched job stays in memory until it has ended, and the longer jobs stay, the more garbage collection costs. So the stage fetches only as many
 * jobs as keep the process busy, and the allowed maximum only while the process waits: for a vendor, the service or work.
 */
export class ConcurrencyLimiter {
  readonly #range: { least: number; most: number };
  readonly #mostHeld: number;
  readonly #onChange: (jobsAtOnce: number) => void;
  #limit: number;
  #isNarrow = false;
  #jobs = 0;
  #held = 0;

  /**
   * @param range of the limit, which begins at `most`
   * @param mostHeld the most pieces of data in one job
   */
  constructor(range: { least: number; most: number }, mostHeld: number, onChange: (jobsAtOnce: number) => void) {
    this.#range = range;
    this.#mostHeld = mostHeld;
    this.#onChange = onChange;
    this.#limit = range.most;
  }

  get jobsAtOnce(): number {
    const room = Math.max(0, (this.#isNarrow ? 1 : this.#limit) - this.#held);
    return Math.max(1, this.#jobs + Math.ceil(room / this.#mostHeld));
  }

  /** Runs a single job at once, or as many jobs as the limit allows. */
  narrow(isNarrow: boolean): void {
    if (this.#isNarrow === isNarrow) return;
    this.#isNarrow = isNarrow;
    this.#onChange(this.jobsAtOnce);
  }

  /** @param busy the share of the last moments in which the process was working, from 0 to 1 */
  adapt(busy: number): void {
    this.#limit = nextLimit(this.#limit, { ...this.#range, busy });
    this.#onChange(this.jobsAtOnce);
  }

  /** @param held the number of pieces of data in the job */
  async run(held: number, job: () => Promise<void>): Promise<void> {
    this.#count(1, held);
    await job().finally(() => this.#count(-1, -held));
  }

  #count(jobs: number, held: number): void {
    this.#jobs += jobs;
    this.#held += held;
    this.#onChange(this.jobsAtOnce);
  }
}

/** Lowers the limit by a fifth while the process hardly waits; raises it by half while the process waits more than a quarter of the time. */
export function nextLimit(limit: number, { least, most, busy }: { least: number; most: number; busy: number }): number {
  if (busy > 0.95) return Math.max(least, Math.floor(limit * 0.8));
  return busy < 0.75 ? Math.min(most, Math.ceil(limit * 1.5)) : limit;
}
