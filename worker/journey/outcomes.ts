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
