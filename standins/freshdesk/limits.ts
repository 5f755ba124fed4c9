import { Problem } from '../kit/problem.ts';
import type { Settings } from './model.ts';

const windowMs = 60_000;

/** Credits of one minute. All keys, all apps and webhooks share them; failed calls count. */
export class Credits {
  readonly #used = { total: 0, list: 0, update: 0 };
  #window = -1;

  /** The headers of the answer. @throws Problem 429 */
  take({ limits, bare429 }: Settings, now: number, cost: number, lane?: 'list' | 'update'): Record<string, string> {
    this.#turn(now);
    const isOver =
      this.#used.total + cost > limits.total || (lane !== undefined && this.#used[lane] + 1 > limits[lane]);
    if (!isOver && lane !== undefined) this.#used[lane] += 1;
    this.#used.total = Math.min(limits.total, this.#used.total + cost);
    const headers = {
      'x-ratelimit-total': `${limits.total}.0`,
      'x-ratelimit-remaining': String(limits.total - this.#used.total),
      'x-ratelimit-used-currentrequest': String(cost),
    };
    if (!isOver) return headers;
    if (bare429) throw new Problem({ status: 429, body: '' });
    const seconds = String(Math.ceil((windowMs - (now % windowMs)) / 1_000));
    const message = 'You have exceeded the limit of requests per minute';
    throw new Problem({ status: 429, headers: { ...headers, 'retry-after': seconds }, body: { message } });
  }

  /** For a delivery. */
  takeOne({ limits }: Settings, now: number): boolean {
    this.#turn(now);
    if (this.#used.total >= limits.total) return false;
    this.#used.total += 1;
    return true;
  }

  #turn(now: number): void {
    const window = Math.floor(now / windowMs);
    if (window === this.#window) return;
    this.#window = window;
    Object.assign(this.#used, { total: 0, list: 0, update: 0 });
  }
}
