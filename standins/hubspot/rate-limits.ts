import { accountZone } from './defaults.ts';

const dayIn = new Intl.DateTimeFormat('en-CA', { timeZone: accountZone });

/** Rolling ten seconds and a day, which ends at midnight in the account's zone; both for the whole account. */
export class RateLimits {
  #recent: number[] = [];
  #searches: number[] = [];
  #day = '';
  #today = 0;

  /** Takes one, unless a limit is reached. Headers describe what is left either way. */
  take(
    limits: { per10s: number; daily: number },
    now: number,
    kind: 'search' | 'other' = 'other',
  ): { refusedBy?: string; headers: Record<string, string> } {
    const day = dayIn.format(now);
    if (day !== this.#day) {
      this.#day = day;
      this.#today = 0;
    }
    if (kind === 'search') return this.#takeSearch(limits.daily, now);
    const from = this.#recent.findIndex((at) => at > now - 10_000);
    this.#recent = from === -1 ? [] : this.#recent.slice(from);
    const refusedBy =
      this.#today >= limits.daily ? 'DAILY' : this.#recent.length >= limits.per10s ? 'TEN_SECONDLY_ROLLING' : undefined;
    if (refusedBy === undefined) {
      this.#recent.push(now);
      this.#today += 1;
    }
    const headers = {
      'x-hubspot-ratelimit-max': String(limits.per10s),
      'x-hubspot-ratelimit-remaining': String(Math.max(0, limits.per10s - this.#recent.length)),
      'x-hubspot-ratelimit-interval-milliseconds': '10000',
      'x-hubspot-ratelimit-daily': String(limits.daily),
      'x-hubspot-ratelimit-daily-remaining': String(Math.max(0, limits.daily - this.#today)),
    };
    return refusedBy === undefined ? { headers } : { refusedBy, headers };
  }

  /** Five a second for the account, and one of the day's. Answers of a search carry no headers about it. */
  #takeSearch(daily: number, now: number): { refusedBy?: string; headers: Record<string, string> } {
    this.#searches = this.#searches.filter((at) => at > now - 1_000);
    if (this.#today >= daily) return { refusedBy: 'DAILY', headers: {} };
    if (this.#searches.length >= 5) return { refusedBy: 'SECONDLY', headers: {} };
    this.#searches.push(now);
    this.#today += 1;
    return { headers: {} };
  }
}
