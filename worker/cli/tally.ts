const mostIds = 1_000;
const shownIds = 5;

/** Counts journeys by their outcome, and keeps the first references of each outcome: memory doesn't grow with the number of journeys. */
export class Tally {
  readonly #what: string;
  readonly #found = new Map<string, { count: number; journeys: string[] }>();

  /** @param what the name of the outcome in JSON */
  constructor(what: string) {
    this.#what = what;
  }

  add(outcome: string, journey: string): void {
    const counted = this.#found.get(outcome) ?? { count: 0, journeys: [] };
    this.#found.set(outcome, counted);
    counted.count++;
    if (counted.journeys.length < mostIds) counted.journeys.push(journey);
  }

  /** For machines, most frequent first. */
  rows(): object[] {
    return this.#sorted().map(([outcome, counted]) => ({ [this.#what]: outcome, ...counted }));
  }

  /** For people: `     7  written back again  (support/41960.1, support/41961.1, …)`. */
  text(none: string): string {
    const lines = this.#sorted().map(([outcome, { count, journeys }]) => {
      const shown = [...journeys.slice(0, shownIds), ...(count > shownIds ? ['…'] : [])].join(', ');
      return `${String(count).padStart(6)}  ${outcome}  (${shown})`;
    });
    return lines.join('\n') || none;
  }

  #sorted() {
    return [...this.#found].sort(([, a], [, b]) => b.count - a.count);
  }
}
