/** How long a job may be on its way: another one's call does not wait for one that has met something slow before. Real time. */
const longestMs = 2_000;

/** The jobs of a stage that have begun in this process, and are still on their way to their call of the vendor. */
export class Approach {
  /** When they began, oldest first. */
  readonly #begun = new Set<{ at: number }>();
  readonly #now: () => number;

  /** @param now milliseconds, on a clock that is never set */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param work calls `arrived` once its call is made, if it makes one */
  async run<Result>(work: (arrived: () => void) => Promise<Result>): Promise<Result> {
    const job = { at: this.#now() };
    const arrived = () => void this.#begun.delete(job);
    this.#begun.add(job);
    return await work(arrived).finally(arrived);
  }

  isAny(): boolean {
    const since = this.#now() - longestMs;
    for (const { at } of this.#begun) if (at >= since) return true;
    return false;
  }
}
