import { setTimeout as sleep } from 'node:timers/promises';
import type { Down, Outage } from '../operations/outage.ts';

/** How often the held job checks whether the endpoint is back, or whether it may probe the endpoint. Real time. */
const checkEveryMs = 250;
/** The wait of a job that goes back to the queue, at least; twice that at most. Real time. */
const retryLaterMs = 2_000;

type Admission =
  /** `done` is called at the job's end, whatever that is; `hasWaited`: in hand, until its endpoint was back or had to be tried. */
  | { may: 'run'; hasWaited: boolean; done: () => Promise<void> }
  /** The job goes back to the queue: another job of the stage is held already, or the process is ending. Real time. */
  | { may: 'wait'; delayMs: number };

type Endpoint = Pick<Outage, 'down' | 'takeProbe'>;

/**
 * Lets no job begin while an endpoint that it may call is down: the process holds one job, all others stay in the queue. The held
 * job begins when it may probe the endpoint (one job at a time, over all stages and processes), or when the endpoint is back;
 * then all jobs go on.
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
    /** Sets how many jobs the stage may run at once. */
    setConcurrency: (jobs: number) => void;
    random: () => number;
  }) {
    this.#endpoints = options.endpoints;
    this.#concurrency = options.concurrency;
    this.#setConcurrency = options.setConcurrency;
    this.#random = options.random;
  }

  /** The endpoint of the stage that is down, if any. */
  async down(): Promise<Down | undefined> {
    return (await this.#find())?.down;
  }

  /** @param token of the job */
  async admit(token: string): Promise<Admission> {
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
        await sleep(checkEveryMs);
      }
    } finally {
      this.#isOneInHand = false;
    }
  }

  /** The wait of a job that goes back to the queue while an endpoint is down, with jitter. Real time. */
  laterMs(): number {
    return retryLaterMs * (1 + this.#random());
  }

  /** Releases the held job. */
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

/**
 * How many jobs a stage may run at once. The limit is meant for what the jobs hold; BullMQ counts jobs, and fetches as many as it may run
 * before it begins the first.
 */
export class Places {
  readonly #mostHeld: number;
  readonly #onChange: (jobsAtOnce: number) => void;
  #most: number;
  #jobs = 0;
  #held = 0;

  /** @param mostHeld the most that one job holds */
  constructor(most: number, mostHeld: number, onChange: (jobsAtOnce: number) => void) {
    this.#most = most;
    this.#mostHeld = mostHeld;
    this.#onChange = onChange;
  }

  get jobsAtOnce(): number {
    const room = Math.max(0, this.#most - this.#held);
    return Math.max(1, this.#jobs + Math.ceil(room / this.#mostHeld));
  }

  limit(most: number): void {
    this.#most = most;
    this.#onChange(this.jobsAtOnce);
  }

  /** Runs a job that holds so many. */
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
