import type { Journey, JourneyState } from './journey.ts';

/**
 * Which state may follow which. From `waiting` back to `received`: the rule is gone, it is planned anew. From `waiting`
 * to `asked`: the service's answer came after a look-up had found nothing.
 * Everything that isn't here is a bug or a race that somebody else won.
 * `failed` and `parked` can be taken up again by a person.
 */
const next: Record<JourneyState, readonly JourneyState[]> = {
  received: ['waiting', 'skipped', 'cancelled', 'failed', 'parked'],
  waiting: ['received', 'waiting', 'creating', 'asked', 'skipped', 'cancelled', 'failed', 'parked'],
  creating: ['creating', 'asked', 'waiting', 'failed', 'parked'],
  asked: ['answered', 'expired', 'cancelled', 'failed'],
  answered: ['answered', 'written', 'failed', 'parked'],
  written: ['answered'],
  expired: ['answered'],
  skipped: [],
  cancelled: [],
  failed: ['received', 'waiting', 'answered'],
  parked: ['waiting', 'asked', 'answered', 'cancelled'],
};

/** No step of ours is outstanding: nothing will happen unless the customer or a person acts. */
export const settledStates: readonly JourneyState[] = [
  'skipped',
  'written',
  'cancelled',
  'expired',
  'failed',
  'parked',
];

/** States in which the customer has not been asked, and will not be if the journey is cancelled. */
export const unaskedStates: readonly JourneyState[] = ['received', 'waiting'];

/** From these on the customer has been asked, or may have been: the record's journeys of rule `again: never` end here. */
export const askedStates: readonly JourneyState[] = ['creating', 'asked', 'answered', 'written', 'expired'];

export function mayFollow(from: JourneyState, to: JourneyState): boolean {
  return next[from].includes(to);
}

/**
 * The journey after a step. Pure.
 * @throws Error when the step isn't allowed from the journey's state: a bug, since callers look at the state first.
 */
export function step(journey: Journey, to: JourneyState, at: Date, change: Partial<Journey> = {}): Journey {
  if (!mayFollow(journey.state, to)) throw new Error(`journey ${journey.id}: ${to} cannot follow ${journey.state}`);
  const { why: _, ...rest } = journey;
  return { ...rest, ...change, state: to, updatedAt: at };
}
