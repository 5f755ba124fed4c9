import { type Journey, type JourneyState, journeyStates } from './journey.ts';
import type { SkipReason } from './reasons.ts';

/**
 * The states that may follow each state. `waiting` to `received`: the rule is gone and the journey is planned again. `waiting` to `asked`:
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

/** The contact that got the journey's request, or is being sent it: in test mode the test contact. */
export function askedContactOf({ contact, test }: Pick<Journey, 'contact' | 'test'>): Journey['contact'] {
  return test?.contact ?? contact;
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

export interface Step {
  to: JourneyState;
  at: Date;
  /** Stored with the journey, and in its trace as "skipped: …". */
  why?: string;
  /** The code of the reason, where `to` is `skipped`. */
  reason?: SkipReason | undefined;
  /** Lines for the trace that replace the line with `why`. */
  trace?: readonly string[];
  change?: Partial<Journey> | ((now: Journey) => Partial<Journey>);
  /** Fields that this step removes. */
  without?: readonly ('intent' | 'searched' | 'test')[];
  /** A further condition, beside the state. */
  when?: (now: Journey) => boolean;
}

/** A change for `JourneyStore.update`: takes the step if the journey is still in one of these states. Pure. */
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

/** Copies the journey: V8 stores an object that has lost a field as a dictionary, which makes every later step slower. */
function leaveOut(journey: Journey, field: NonNullable<Step['without']>[number]): Journey {
  const { [field]: _, ...rest } = journey;
  return rest;
}

/** Takes the first of these decisions that changes the journey. */
export function firstOf(...decisions: readonly ((now: Journey) => Decision)[]): (now: Journey) => Decision {
  return (now) => {
    for (const decide of decisions) {
      const decision = decide(now);
      if (decision) return decision;
    }
    return undefined;
  };
}
