/** A result that `count` records or journeys had in common, with the ids of the first ones: memory doesn't grow with their number. */
type Counted<Outcome> = Outcome & { count: number; ids: string[] };

const mostIds = 1_000;
const shownIds = 5;

/** Counts results. */
export class Tally<Outcome extends object> {
  readonly #found = new Map<string, Counted<Outcome>>();

  add(outcome: Outcome, id: string): void {
    const key = JSON.stringify(outcome);
    const counted = this.#found.get(key) ?? { ...outcome, count: 0, ids: [] };
    this.#found.set(key, counted);
    counted.count++;
    if (counted.ids.length < mostIds) counted.ids.push(id);
  }

  /** Most frequent first. */
  rows(): Counted<Outcome>[] {
    return [...this.#found.values()].sort((a, b) => b.count - a.count);
  }
}

/** For people: `     7  would ask  (41960, 41961, 41962, 41963, 41964, …)`. */
export function lineOf(outcome: string, { count, ids }: Counted<object>): string {
  const shown = [...ids.slice(0, shownIds), ...(count > shownIds ? ['…'] : [])].join(', ');
  return `${String(count).padStart(6)}  ${outcome}  (${shown})`;
}
