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
