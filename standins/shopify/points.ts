/** The leaky bucket of one app at one shop: points that come back by the second. */
export class Points {
  #available: number | undefined;
  #at = 0;

  /** Takes what a call may cost. False, and nothing taken, when there isn't enough. */
  take(points: number, limits: { maximumAvailable: number; restoreRate: number }, now: number): boolean {
    const available = this.available(limits, now);
    this.#at = now;
    this.#available = points <= available ? available - points : available;
    return points <= available;
  }

  /** Gives back what a call didn't need. */
  refund(points: number): void {
    this.#available = (this.#available ?? 0) + points;
  }

  available({ maximumAvailable, restoreRate }: { maximumAvailable: number; restoreRate: number }, now: number): number {
    const held = this.#available ?? maximumAvailable;
    return Math.min(maximumAvailable, held + (Math.max(0, now - this.#at) / 1000) * restoreRate);
  }
}
