import type { Journey } from './journey.ts';

/** "2 of 5"; undefined: there is none. */
export function gradeInWords({ answer, maxGrade }: Pick<Journey, 'answer' | 'maxGrade'>): string | undefined {
  const grade = answer?.grade ?? undefined;
  return grade === undefined || maxGrade === undefined ? grade?.toString() : `${grade} of ${maxGrade}`;
}
