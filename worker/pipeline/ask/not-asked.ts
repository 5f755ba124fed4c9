import { messageOf } from '../../../core/errors.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import type { Intent, Journey, Searched } from '../../journey/journey.ts';
import { unaskedStates } from '../../journey/outcomes.ts';
import type { Skip } from '../../journey/reasons.ts';
import { markOf, refOf } from '../../journey/refs.ts';
import { ifStill } from '../../journey/transitions.ts';
import { done, type JobResult } from '../jobs.ts';
import type { Turn } from '../policy/cap.ts';
import { plannedAt } from '../policy/decide.ts';
import type { ThrottleHit } from '../policy/throttle.ts';
import { heldUntil, throttled } from '../policy/throttled.ts';
import type { CampaignRule } from '../rules.ts';
import { giveBack } from '../withdraw.ts';
import type { AskableJourney, AskContext } from './ask-steps.ts';
import { supersededBy } from './later-closing.ts';

// The steps of a journey whose customer is not asked now, or may not have been.

const unclear = 'it could not be found out whether customers were asked';

/** Whether the journey is still in the same attempt to ask. */
const isAttemptOf =
  ({ intent }: Journey) =>
  (now: Journey): boolean =>
    now.intent?.token === intent?.token;

export async function postpone(
  journey: Journey,
  due: { at: Date; why: string[] },
  context: AskContext,
): Promise<JobResult> {
  const after = await context.store.update(
    journey,
    ifStill('waiting', {
      to: 'waiting',
      at: context.clock.now(),
      change: { dueAt: due.at },
      trace: [...due.why, plannedAt(due.at)],
      when: ({ dueAt, hurried }) => hurried === journey.hurried && dueAt?.getTime() !== due.at.getTime(),
    }),
  );
  // A person hurried the journey meanwhile, and the time here still includes the delay.
  if (after?.state === 'waiting' && after.hurried !== journey.hurried) return { do: 'wait', delayMs: 0 };
  return { do: 'wait', delayMs: context.clock.until(due.at) };
}

/**
 * Ends a journey that has not asked.
 * @param reason with a reason the journey is skipped; without a reason it is cancelled
 * @param more `trace`: lines before the reason; `change`: what else the journey stores
 */
export async function endJourney(
  journey: Journey,
  { reason, why }: Partial<Skip> & Pick<Skip, 'why'>,
  context: AskContext,
  { trace = [], change = {} }: { trace?: readonly string[]; change?: Partial<Journey> } = {},
): Promise<JobResult> {
  const ref = refOf(context.name, journey.id);
  const state = reason === undefined ? 'cancelled' : 'skipped';
  const lines = [...trace, `${state}: ${why}`];
  const after = await context.store.update(
    journey,
    ifStill(unaskedStates, { to: state, at: context.clock.now(), why, reason, change, trace: lines }),
  );
  // Another worker changed the journey: the contact's note is that worker's.
  if (after?.state !== state) return done;
  await giveBack(journey, context);
  context.log.info({ journey: ref, why }, state);
  return done;
}

/** The journey may have asked already: a search comes before anything is sent. */
export async function searchBeforeAsking(
  journey: Journey,
  { intent, test }: { intent: Intent } & Pick<Journey, 'test'>,
  why: string,
  context: AskContext,
): Promise<JobResult> {
  await context.store.update(
    journey,
    ifStill('waiting', {
      to: 'creating',
      at: context.clock.now(),
      change: (now) => ({ intent, test, attempts: (now.attempts ?? 0) + 1 }),
      trace: [`${why}: searches for that request first, at ${intent.searchAfter.toISOString()}`],
    }),
  );
  return { do: 'wait', delayMs: context.clock.until(intent.searchAfter) };
}

/** @param options `counts`: the outcome was unknown, so the attempt counts; `searched`: the search that found no request */
export async function backToWaiting(
  journey: Journey,
  why: string,
  context: AskContext,
  options: { counts: false; change?: Partial<Journey> | undefined } | { counts: true; searched: Searched },
): Promise<void> {
  await context.store.update(
    journey.id,
    ifStill('creating', {
      to: 'waiting',
      at: context.clock.now(),
      change: (now) => ({
        attempts: (now.attempts ?? 1) - (options.counts ? 0 : 1),
        ...(options.counts ? { searched: options.searched } : options.change),
      }),
      without: ['intent', 'test'],
      trace: [why],
      when: isAttemptOf(journey),
    }),
  );
}

/** @param looks the number of searches so far without a clear result */
export async function searchLater(
  journey: Journey,
  error: unknown,
  context: AskContext,
  searches = 0,
): Promise<JobResult> {
  const patience = context.searchAfterMs * 2 ** Math.min((journey.attempts ?? 1) - 1 + searches, 7);
  const searchAfter = new Date(context.clock.now().getTime() + patience);
  await context.store.update(
    journey.id,
    ifStill('creating', {
      to: 'creating',
      at: context.clock.now(),
      change: ({ intent }) => (intent ? { intent: { ...intent, searchAfter, searches } } : {}),
      trace: [`outcome unknown (${messageOf(error)}): will look for the request at ${searchAfter.toISOString()}`],
      when: isAttemptOf(journey),
    }),
  );
  context.log.warn({ journey: refOf(context.name, journey.id), why: messageOf(error) }, 'outcome of create unknown');
  return { do: 'wait', delayMs: context.clock.until(searchAfter) };
}

/** closeloop can't find out whether the customer was asked: a person has to decide. */
export async function park(journey: Journey, why: string, context: AskContext): Promise<void> {
  if (!(await settle(journey, 'parked', why, context))) return;
  const ref = refOf(context.name, journey.id);
  await context.alert('parked', unclear, 'see what the service has, then "closeloop journeys resolve"', [ref]);
}

/** The customer was not asked, and no further attempt is made. */
export async function fail(journey: Journey, why: string, context: AskContext): Promise<void> {
  if (await settle(journey, 'failed', why, context)) await giveBack(journey, context);
}

/** @returns false where another worker has changed the journey */
async function settle(
  journey: Journey,
  state: 'parked' | 'failed',
  why: string,
  context: AskContext,
): Promise<boolean> {
  const after = await context.store.update(
    journey.id,
    ifStill('creating', { to: state, at: context.clock.now(), why, when: isAttemptOf(journey) }),
  );
  if (after?.state !== state) return false;
  context.log.error({ journey: refOf(context.name, journey.id), why }, state);
  return true;
}

/** Ends or postpones a journey that throttles hold. Undefined: no throttle holds the journey. */
export async function holdBack(
  { journey, rule, campaign }: { journey: AskableJourney; rule: CampaignRule; campaign: Campaign },
  hits: readonly ThrottleHit[],
  now: Date,
  context: AskContext,
): Promise<JobResult | undefined> {
  const no = (await supersededBy(journey, hits, context)) ?? throttled(hits, now);
  if (!no) return undefined;
  if (!('until' in no)) return await endJourney(journey, no, context);
  const held = heldUntil(no, journey, rule, campaign, context);
  if (held.do === 'skip') return await endJourney(journey, held, context);
  await context.caps.giveBack(markOf(journey));
  return await postpone(journey, held, context);
}

/** The wait between two checks of a later closing's journey, which asks in place of this journey. Real time. */
const retryMs = 10_000;

export async function wait(
  journey: Journey,
  turn: Exclude<OwnTurn, { do: 'ask' } | { do: 'skip' }>,
  context: AskContext,
): Promise<JobResult> {
  if (turn.do === 'wait') return await postpone(journey, turn, context);
  // The journey waits until the later closing's journey has asked, or has ended without asking.
  await context.caps.giveBack(markOf(journey));
  if (turn.at > context.clock.now()) return await postpone(journey, turn, context);
  return { do: 'wait', delayMs: retryMs };
}

/** A `Turn`, or `give way`: a later closing of the person is asked about first. */
export type OwnTurn = Turn | { do: 'give way'; at: Date; why: string[] };
