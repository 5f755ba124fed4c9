interface Waiting {
  cost: number;
  work: () => void;
}

/**
 * Spreads work over turns of the event loop, so that a burst does not delay timers and other connections. The work of one turn costs
 * at most `budget`, or is a single item; first come, first served.
 */
export class Turns {
  readonly #budget: number;
  readonly #line: Waiting[] = [];
  #isScheduled = false;

  constructor(budget: number) {
    this.#budget = budget;
  }

  /** Puts `work` at the end of the line; `work` may enter again, for a later turn. */
  enter(cost: number, work: () => void): void {
    this.#line.push({ cost, work });
    this.#schedule();
  }

  /** Resolves in the turn in which this cost fits. */
  next(cost: number): Promise<void> {
    return new Promise((resolve) => this.enter(cost, resolve));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      let left = this.#budget;
      for (let waiting = this.#line.length; waiting > 0; waiting--) {
        const next = this.#line.shift();
        next?.work();
        left -= next?.cost ?? 0;
        if (left < (this.#line[0]?.cost ?? 0)) break;
      }
      if (this.#line.length > 0) this.#schedule();
    });
  }
}
