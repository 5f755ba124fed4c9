import { tooManyRequests } from './problem.ts';

/** A counter that starts again at fixed intervals. */
interface Window {
  startedAt: number;
  used: number;
}

export interface Limit {
  key: string;
  limit: number;
  windowMs: number;
  /** Endpoint name of the header `zendesk-ratelimit-<name>`; left out for the account's own limit. */
  name?: string;
  what: string;
}

/** Counts calls per key and window; a call beyond the limit is refused and not counted. */
export class RateLimits {
  readonly #windows = new Map<string, Window>();

  clear(): void {
    this.#windows.clear();
  }

  /** Takes one from every limit. Answer headers, refused or not, describe what is left. @throws Problem 429 */
  take(limits: readonly Limit[], now: number): Record<string, string> {
    const headers: Record<string, string> = {};
    let refusal: { seconds: number; what: string } | undefined;
    const windows = limits.map((limit) => ({ limit, window: this.#window(limit, now) }));
    for (const { limit, window } of windows) {
      if (window.used < limit.limit) continue;
      const seconds = Math.max(1, Math.ceil((window.startedAt + limit.windowMs - now) / 1000));
      if (refusal === undefined || seconds > refusal.seconds) refusal = { seconds, what: limit.what };
    }
    for (const { limit, window } of windows) {
      if (refusal === undefined) window.used += 1;
      const left = Math.max(0, limit.limit - window.used);
      const resets = Math.max(1, Math.ceil((window.startedAt + limit.windowMs - now) / 1000));
      if (limit.name === undefined) {
        headers['x-rate-limit'] = String(limit.limit);
        headers['x-rate-limit-remaining'] = String(left);
        headers['ratelimit-limit'] = String(limit.limit);
        headers['ratelimit-remaining'] = String(left);
        headers['ratelimit-reset'] = String(resets);
      } else {
        headers[`zendesk-ratelimit-${limit.name}`] = `total=${limit.limit}; remaining=${left}; resets=${resets}`;
      }
    }
    if (refusal === undefined) return headers;
    const problem = tooManyRequests(refusal.seconds, refusal.what);
    problem.response.headers = { ...headers, ...problem.response.headers };
    throw problem;
  }

  #window(limit: Limit, now: number): Window {
    const known = this.#windows.get(limit.key);
    if (known !== undefined && now >= known.startedAt && now < known.startedAt + limit.windowMs) return known;
    const fresh = { startedAt: now, used: 0 };
    this.#windows.set(limit.key, fresh);
    return fresh;
  }
}
