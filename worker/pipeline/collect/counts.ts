import { z } from 'zod';
import type { FeedbackRequest } from '../../../core/feedback/request-form.ts';
import type { CampaignStats } from '../../../core/feedback/schemas.ts';

/** How many requests of a campaign have a grade, have a comment, and have each single grade. Zeros are left out. */
export const Counts = z.record(z.string(), z.number());
export type Counts = z.output<typeof Counts>;

export type Answer = Pick<FeedbackRequest, 'grade' | 'comment'>;

/** The counts of the service. */
export function countsOf({ appeals_graded, appeals_commented, grade_counts }: CampaignStats): Counts {
  const grades = Object.entries(grade_counts ?? {}).map(([grade, count]): [string, number] => [gradeOf(grade), count]);
  return sum([Object.fromEntries([['graded', appeals_graded], ['commented', appeals_commented], ...grades])]);
}

/** The counts of a single request. */
export function countsOfAnswer({ grade, comment }: Answer): Counts {
  return {
    ...(grade !== null && { graded: 1, [gradeOf(grade)]: 1 }),
    ...(comment !== null && comment !== '' && { commented: 1 }),
  };
}

export function sum(all: Iterable<Counts>): Counts {
  const totals = new Map<string, number>();
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) totals.set(name, (totals.get(name) ?? 0) + count);
  }
  return Object.fromEntries([...totals].filter(([, count]) => count !== 0));
}

export function minus(counts: Counts, others: Counts): Counts {
  return sum([counts, Object.fromEntries(Object.entries(others).map(([name, count]) => [name, -count]))]);
}

export function areSame(counts: Counts, others: Counts): boolean {
  return Object.keys(minus(counts, others)).length === 0;
}

const gradeOf = (grade: string | number): string => `grade ${Number(grade)}`;
