import { type MachineUse, watchMachine } from './machine.ts';

/** `full` is what counts. `short` shows in seconds, and without fetching anything, that it completes and counts right. */
export type Size = 'full' | 'short';

/** The figure to reach: by the ratio to the baseline, or by the value itself. */
export interface Target {
  of: 'ratio' | 'value';
  is: 'at least' | 'at most';
  figure: number;
}

/** One figure, as each round gave it. */
export interface Row {
  measure: string;
  unit: string;
  closeloop: number[];
  /** How much a round did, as others counted it: the help desk, the service, Redis. */
  counted?: number;
  baseline?: { name: string; rounds: number[] };
  target?: Target;
}

/** One thing to measure, in a file of its own. */
export interface Measure {
  name: string;
  /** Several figures may come of the same rounds. */
  run(size: Size): Promise<Row[]>;
}

export interface Spread {
  median: number;
  /** Quartiles. */
  from: number;
  to: number;
}

export interface Finding {
  measure: string;
  unit: string;
  closeloop: Spread;
  rounds: number;
  counted?: number;
  baseline?: Spread & { name: string };
  /** What the target is about: medians over the rounds, each with its own baseline. */
  judged?: number;
  target?: Target;
  /** Left out: no target, or the machine was too busy to claim anything. */
  isReached?: boolean;
}

export interface Report {
  name: string;
  machine: MachineUse;
  findings: Finding[];
}

export async function measured(measure: Measure, size: Size): Promise<Report> {
  const watched = watchMachine();
  const rows = await measure.run(size);
  const machine = watched();
  return { name: measure.name, machine, findings: rows.map((row) => findingOf(row, machine.isBusy)) };
}

/**
 * The product and its baseline in turn, so that a machine that is busy is as busy for both; every round begins with the
 * other one. The first rounds warm up, and are left out.
 */
export async function inTurns<T>(rounds: number, ways: readonly (() => Promise<T>)[], warmUps = 1): Promise<T[][]> {
  const found: T[][] = ways.map(() => []);
  for (let round = 0; round < warmUps + rounds; round++) {
    const order = ways.map((_, i) => (i + round) % ways.length);
    for (const i of order) {
      const result = await ways[i]?.();
      if (round >= warmUps && result !== undefined) found[i]?.push(result);
    }
  }
  return found;
}

export function findingOf({ measure, unit, closeloop, counted, baseline, target }: Row, isBusy: boolean): Finding {
  const judged = target && judgedOf(target, closeloop, baseline?.rounds);
  const isReached = judged !== undefined && target && reaches(judged, target);
  return {
    measure,
    unit,
    closeloop: spreadOf(closeloop),
    rounds: closeloop.length,
    ...(counted !== undefined && { counted }),
    ...(baseline && { baseline: { name: baseline.name, ...spreadOf(baseline.rounds) } }),
    ...(judged !== undefined && { judged }),
    ...(target && { target }),
    ...(isReached !== undefined && !isBusy && { isReached }),
  };
}

function judgedOf({ of }: Target, closeloop: readonly number[], baseline: readonly number[] = []): number | undefined {
  if (of === 'value') return spreadOf(closeloop).median;
  // Round by round: what slowed one down slowed the other.
  const pairs = closeloop.flatMap((value, i) => {
    const other = baseline[i];
    return other === undefined ? [] : [value / other];
  });
  return pairs.length === 0 ? undefined : spreadOf(pairs).median;
}

function reaches(judged: number, { is, figure }: Target): boolean {
  return is === 'at least' ? judged >= figure : judged <= figure;
}

/** @throws RangeError for no values */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), from: quantile(sorted, 0.25), to: quantile(sorted, 0.75) };
}

/** Of values in order, interpolated. */
export function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (low === undefined || high === undefined) throw new RangeError('a quantile of no values');
  return low + (high - low) * (at - Math.floor(at));
}
