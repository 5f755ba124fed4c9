import { type Journey, type JourneyState, journeyStates, onlyKnown } from './journey.ts';
import type { SkipReason } from './reasons.ts';

/**
 * Which state may follow which. `waiting` to `received`: the rule is gone and the journey is planned again. `waiting` to `asked`:
 * the service's answer came after a search had found nothing. Any other step is a bug, or a race that another worker won.
 * `tested`: asked as a test, and answered or not; its answers stay in the journey. `withheld`: a dry run would have asked.
 * A person may resume journeys in `failed`, `parked` and `skipped`; in `cancelled`, only those that `mayComeBack`.
 */
const next: Record<JourneyState, readonly JourneyState[]> = {
  received: ['waiting', 'skipped', 'cancelled', 'failed', 'parked'],
  waiting: ['received', 'waiting', 'creating', 'asked', 'skipped', 'cancelled', 'withheld', 'failed', 'parked'],
  creating: ['creating', 'asked', 'waiting', 'failed', 'parked'],
  asked: ['answered', 'expired', 'tested', 'cancelled', 'failed'],
  answered: ['answered', 'written', 'cancelled', 'failed', 'parked'],
  written: ['answered'],
  expired: ['answered'],
  tested: ['tested'],
  withheld: [],
  skipped: ['received'],
  cancelled: ['received'],
  failed: ['received', 'waiting', 'creating', 'answered', 'cancelled'],
  parked: ['waiting', 'asked', 'answered', 'cancelled'],
};

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

/** Who got the journey's request, or is being sent it: in test mode the test contact. */
export function askedContactOf({ contact, test }: Pick<Journey, 'contact' | 'test'>): Journey['contact'] {
  return test?.contact ?? contact;
}

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

/** Nobody was asked because the record was gone: the journey is resumed should the record be back, with the same closing. */
export function mayComeBack({ state, wasOut, intent, requestId, answer, erasedAt }: Journey): boolean {
  const isUnasked = intent === undefined && requestId === undefined && answer === undefined;
  return state === 'cancelled' && wasOut === true && isUnasked && erasedAt === undefined;
}

export function mayFollow(from: JourneyState, to: JourneyState): boolean {
  return next[from].includes(to);
}

export function statesBefore(to: JourneyState): JourneyState[] {
  return journeyStates.filter((from) => mayFollow(from, to));
}

/**
 * The journey after a step. Pure.
 * @throws Error when the step isn't allowed from the journey's state: a bug, since callers look at the state first.
 */
export function step(journey: Journey, to: JourneyState, at: Date, change: Partial<Journey> = {}): Journey {
  const isBarred = journey.state === 'cancelled' && !mayComeBack(journey);
  if (isBarred || !mayFollow(journey.state, to)) {
    throw new Error(`journey ${journey.id}: ${to} cannot follow ${journey.state}`);
  }
  const { why: _, withdrawing: _1, wasOut: _2, reason: _3, ...rest } = journey;
  return { ...rest, ...change, state: to, updatedAt: at };
}

/** A change to a journey; undefined leaves it as it is. */
export type Decision = { journey: Journey; trace: readonly string[] } | undefined;

/** A step of a journey, with its lines in the trace. */
export interface Step {
  to: JourneyState;
  at: Date;
  /** Stored with the journey, and in its trace as "skipped: …". */
  why?: string;
  /** Of `skipped`. */
  reason?: SkipReason | undefined;
  /** In place of the line with `why`. */
  trace?: readonly string[];
  change?: Partial<Journey> | ((now: Journey) => Partial<Journey>);
  /** Fields that this step removes. */
  without?: readonly ('intent' | 'searched' | 'test')[];
  /** A further condition, beside the state. */
  when?: (now: Journey) => boolean;
}

/** For `JourneyStore.update`: takes the step if the journey is still in one of these states. Pure. */
export function ifStill(
  from: JourneyState | readonly JourneyState[],
  { to, at, why, reason, trace, change = {}, without = [], when = () => true }: Step,
): (now: Journey) => Decision {
  return (now) => {
    if (![from].flat().includes(now.state) || !when(now)) return undefined;
    const before = without.reduce(leaveOut, now);
    const news = typeof change === 'function' ? change(now) : change;
    const journey = step(before, to, at, {
      ...news,
      ...(why !== undefined && { why }),
      ...(reason !== undefined && { reason }),
    });
    return { journey, trace: trace ?? (why === undefined ? [] : [`${to}: ${why}`]) };
  };
}

/** A copy: V8 keeps an object that has lost a field as a dictionary, which takes longer with every step that follows. */
function leaveOut(journey: Journey, field: NonNullable<Step['without']>[number]): Journey {
  const { [field]: _, ...rest } = journey;
  return rest;
}

/** The first of these decisions that changes the journey. */
export function firstOf(...decisions: readonly ((now: Journey) => Decision)[]): (now: Journey) => Decision {
  return (now) => {
    for (const decide of decisions) {
      const decision = decide(now);
      if (decision) return decision;
    }
    return undefined;
  };
}

/**
 * The journey without the person: contact, values, answer and whatever leads to the person are removed, and the journey ends. The
 * closing stays known, so that nobody is asked about it again. Not for a journey in `creating`, whose outcome must be known first.
 * @param to how a journey ends that has asked nobody yet: `skipped` where its person was erased before anybody told of the closing
 */
export function erased(journey: Journey, at: Date, to: 'cancelled' | 'skipped' = 'cancelled'): Journey {
  // Fields of another version may hold personal data, too.
  const known = onlyKnown(journey);
  const { contact: _, personId: _1, values: _2, answer: _3, survey: _4, given: _5, intent: _6, ...others } = known;
  const { place: _7, why: _8, searched: _9, alsoKnownAs: _10, locale: _11, followUp: _12, ...rest } = others;
  const said =
    to === 'skipped'
      ? ({ reason: 'erased', why: 'its person was erased after the record was closed' } as const)
      : { why: 'erased at the request of the person or the vendor' };
  const ends = mayFollow(journey.state, to);
  // What was skipped for a reason of its own keeps that reason, with its sentence.
  const isKept = to === 'skipped' && journey.state === 'skipped' && journey.why !== undefined;
  const after = ends ? step(rest, to, at, said) : { ...rest, why: isKept ? journey.why : said.why, updatedAt: at };
  // The closing's name comes from the vendor and may name a person; the record's hash keeps a digest.
  return { ...after, closing: 'erased', erasedAt: at };
}
