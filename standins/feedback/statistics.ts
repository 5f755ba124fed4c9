import type { FieldValue, Metric, Tally, ValueTally } from './definitions.ts';

export const emptyTally = (gradeList: readonly number[]): Tally => ({
  total: 0,
  graded: 0,
  commented: 0,
  grades: gradeList.map(() => 0),
});

export const emptyValueTally = (value: FieldValue): ValueTally => ({ value, requests: 0, graded: 0, sum: 0 });

export function addTally(into: Tally, part: Tally): void {
  into.total += part.total;
  into.graded += part.graded;
  into.commented += part.commented;
  for (const [index, count] of part.grades.entries()) into.grades[index] = (into.grades[index] ?? 0) + count;
}

/** Two decimals: the specification shows none, and reports of this kind have two. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;

/** 0 where there is nothing to average: the specification types these as numbers, and writes "or null" where it means it. */
export const average = (sum: number, count: number): number => (count === 0 ? 0 : rounded(sum / count));

/** The `stats` of a campaign (specification 2). */
export function campaignStats(metric: Metric, gradeList: readonly number[], tally: Tally): object {
  const sum = gradeList.reduce((total, grade, index) => total + grade * (tally.grades[index] ?? 0), 0);
  const received = gradeList.map((grade, index) => ({ grade, count: tally.grades[index] ?? 0, gradeList }));
  return {
    ...(metric === 'csat' ? { csat_index: csatIndex(received) ?? 0 } : {}),
    ...(metric === 'nps' ? { nps_index: npsIndex(received) ?? 0 } : {}),
    appeals_total: tally.total,
    appeals_graded: tally.graded,
    appeals_commented: tally.commented,
    average_grade: average(sum, tally.graded),
    grade_counts: Object.fromEntries(gradeList.map((grade, index) => [String(grade), tally.grades[index] ?? 0])),
  };
}

export interface Received {
  grade: number;
  count: number;
  /** The scale on which the grade was given. */
  gradeList: readonly number[];
}

/**
 * CSAT in percent: the share of grades among the top two fifths of their scale (rounded, at least one grade):
 * 4 and 5 of 1–5, 3 of 1–3, 7 to 10 of 1–10. The specification names the index, not the formula; this is the usual one.
 */
export function csatIndex(received: readonly Received[]): number | null {
  return index(received, ({ grade, gradeList }) => {
    const top = Math.max(1, Math.round(gradeList.length * 0.4));
    return gradeList.indexOf(grade) >= gradeList.length - top ? 100 : 0;
  });
}

/**
 * Net Promoter Score, -100 to 100: promoters minus detractors in percent. On 0–10 promoters give 9 or 10, detractors 6 or
 * less; another scale is stretched to 0–10 first.
 */
export function npsIndex(received: readonly Received[]): number | null {
  return index(received, ({ grade, gradeList }) => {
    const low = gradeList[0] ?? 0;
    const high = gradeList[gradeList.length - 1] ?? 0;
    const onTen = high === low ? 10 : ((grade - low) / (high - low)) * 10;
    return onTen >= 9 ? 100 : onTen <= 6 ? -100 : 0;
  });
}

function index(received: readonly Received[], points: (one: Received) => number): number | null {
  let count = 0;
  let sum = 0;
  for (const one of received) {
    count += one.count;
    sum += one.count * points(one);
  }
  return count === 0 ? null : rounded(sum / count);
}
