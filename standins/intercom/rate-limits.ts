/** Dealt out in windows of ten seconds. */
export class RateLimits {
  #window = 0;
  #used = 0;

  take(limit: number, nowMs: number): { refused: boolean; headers: Record<string, string> } {
    const window = Math.floor(nowMs / 10_000);
    if (window !== this.#window) {
      this.#window = window;
      this.#used = 0;
    }
    const refused = this.#used >= limit;
    if (!refused) this.#used += 1;
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(limit - this.#used),
      'x-ratelimit-reset': String((window + 1) * 10),
    };
    return { refused, headers };
  }
}
