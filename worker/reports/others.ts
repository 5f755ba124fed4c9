import { changeOf, type GradeFigures, type GradesRow, rateOf, resultOf } from './grades.ts';
import { ascending, type GradeCount, twoDecimals } from './index-rule.ts';

/** The rows with the most requests, and the rest as one: a campaign may have two hundred stores. */
export function mostAsked(
  rows: readonly GradesRow[],
  most: number,
): { rows: GradesRow[]; others?: GradesRow; count: number } {
  const sorted = rows.toSorted((a, b) => b.now.asked - a.now.asked || b.before.asked - a.before.asked);
  const [shown, rest] = [sorted.slice(0, most), sorted.slice(most)];
  const others = together(rest);
  return { rows: shown, ...(others && { others }), count: rest.length };
}

/** Joins rows to one row. It weights their averages and indices by their answers, so every row has to know its answers. */
export function together(rows: readonly GradesRow[]): GradesRow | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const [now, before] = [sumOf(rows.map((row) => row.now)), sumOf(rows.map((row) => row.before))];
  const change = changeOf(resultOf(now, first.measure), resultOf(before, first.measure));
  const { by: _, ...campaign } = first;
  return { ...campaign, now, before, change };
}

function sumOf(parts: readonly GradeFigures[]): GradeFigures {
  const asked = parts.reduce((sum, one) => sum + one.asked, 0);
  const some = parts.filter((one) => one.asked > 0);
  const answered = some.reduce<number | null>(
    (sum, one) => (sum === null || one.answered === null ? null : sum + one.answered),
    0,
  );
  const weighted = (figureOf: (one: GradeFigures) => number | null): number | null => {
    if (answered === null || answered === 0) return null;
    const sum = some.reduce<number | null>((all, one) => {
      const figure = one.answered === 0 ? 0 : figureOf(one);
      return all === null || figure === null ? null : all + figure * (one.answered ?? 0);
    }, 0);
    return sum === null ? null : twoDecimals(sum / answered);
  };
  return {
    asked,
    answered,
    rate: rateOf(asked, answered),
    average: weighted(({ average }) => average),
    index: weighted(({ index }) => index),
    grades: gradesOf(some),
  };
}

function gradesOf(parts: readonly GradeFigures[]): GradeCount[] | null {
  const counts = new Map<number, number>();
  for (const { grades } of parts) {
    if (grades === null) return null;
    for (const { grade, count } of grades) counts.set(grade, (counts.get(grade) ?? 0) + count);
  }
  return ascending(counts);
}
