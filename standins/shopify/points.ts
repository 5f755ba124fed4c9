/** The leaky bucket of one app at one shop: points that come back by the second. */
export class Points {
  /** What all calls were charged together, and how many were refused for lack of points. */
  spent = 0;
  refused = 0;
  #available: number | undefined;
  #at = 0;

  /** Takes what a call may cost. False, and nothing taken, when there isn't enough. */
  take(points: number, limits: { maximumAvailable: number; restoreRate: number }, now: number): boolean {
    const available = this.available(limits, now);
    this.#at = now;
    const affordable = points <= available;
    this.#available = affordable ? available - points : available;
    if (affordable) this.spent += points;
    else this.refused++;
    return affordable;
  }

  /** As if other calls had used up the app's points. */
  drain(now: number): void {
    this.#at = now;
    this.#available = 0;
  }

  /** Gives back what a call didn't need. */
  refund(points: number): void {
    this.#available = (this.#available ?? 0) + points;
    this.spent -= points;
  }

  available({ maximumAvailable, restoreRate }: { maximumAvailable: number; restoreRate: number }, now: number): number {
    const held = this.#available ?? maximumAvailable;
    return Math.min(maximumAvailable, held + (Math.max(0, now - this.#at) / 1000) * restoreRate);
  }
}
