import type { Journey, JourneyState } from './journey.ts';

/** No step is outstanding: nothing happens unless the customer or a person acts. */
export const settledStates: readonly JourneyState[] = [
  'skipped',
  'written',
  'cancelled',
  'expired',
  'tested',
  'withheld',
  'failed',
  'parked',
];

/** States in which the customer has not been asked, and will not be if the journey is cancelled. */
export const unaskedStates: readonly JourneyState[] = ['received', 'waiting'];

/** The customer has been asked, or may have been; by a dry run, would have been. */
export const askedStates: readonly JourneyState[] = [
  'creating',
  'asked',
  'answered',
  'written',
  'expired',
  'tested',
  'withheld',
];

/**
 * Whether the journey counts as having asked, for rules of `again: never`: also where a person cancelled it while the outcome was
 * unknown. Not where the request was taken back, or turned out not to have reached anybody.
 */
export function mayHaveAsked({ state, requestId, intent, answer, erasedAt }: Journey): boolean {
  if (state === 'skipped') return false;
  if (erasedAt || state === 'parked' || askedStates.includes(state)) return true;
  if (state === 'failed') return requestId !== undefined;
  return state === 'cancelled' && (intent !== undefined || answer !== undefined);
}

/** Whether the journey is over and has asked nobody, so that its cap slots and notes have to be given back. */
export function endedUnasked(journey: Journey): boolean {
  return settledStates.includes(journey.state) && !mayHaveAsked(journey);
}

/** "2 of 5"; undefined: there is none. */
export function gradeInWords({ answer, maxGrade }: Pick<Journey, 'answer' | 'maxGrade'>): string | undefined {
  const grade = answer?.grade ?? undefined;
  return grade === undefined || maxGrade === undefined ? grade?.toString() : `${grade} of ${maxGrade}`;
}

type Graded = Pick<Journey, 'answer' | 'maxGrade' | 'followUp'>;

/** "was 2 of 5": the grade that opened the follow-up, where the customer has corrected it since; undefined: it is the same, or not known. */
export function openingGradeInWords({ answer, maxGrade, followUp }: Graded): string | undefined {
  const grade = followUp?.openingGrade;
  if (answer === undefined || grade === undefined || grade === answer.grade) return undefined;
  return `was ${gradeInWords({ answer: { ...answer, grade }, maxGrade }) ?? 'without a grade'}`;
}

/** "5 of 5, was 2 of 5"; undefined: there is none. */
export function gradesInWords(journey: Graded): string | undefined {
  const grades = [gradeInWords(journey), openingGradeInWords(journey)].filter((one) => one !== undefined);
  return grades.length === 0 ? undefined : grades.join(', ');
}
