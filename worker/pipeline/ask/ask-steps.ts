import { randomUUID } from 'node:crypto';
import { type Contact, contactKey } from '../../../core/contact.ts';
import { messageOf } from '../../../core/errors.ts';
import type { Log, Ports } from '../../../core/ports.ts';
import type { LockedPerson } from '../../journey/contacts.ts';
import type { Intent, Journey, Searched } from '../../journey/journey.ts';
import type { LastAsked } from '../../journey/last-asked.ts';
import type { Skip } from '../../journey/reasons.ts';
import { refOf } from '../../journey/refs.ts';
import { ifStill, statesBefore, unaskedStates } from '../../journey/transitions.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import type { Holds } from '../../operations/holds.ts';
import type { Clock } from '../clock.ts';
import { done, type JobResult } from '../jobs.ts';
import type { Service } from '../open-service.ts';
import type { Named } from '../open-source.ts';
import { linksOf } from '../policy/known-as.ts';
import type { Policy } from '../policy/source-policy.ts';
import type { Queues } from '../queues.ts';
import type { Journeys } from '../source-store.ts';
import type { Vendor } from '../vendor.ts';
import { giveBack } from '../withdraw.ts';

/** What asking takes of a source. */
export interface AskContext
  extends Named,
    Service,
    Policy,
    Pick<Journeys, 'store' | 'erasures' | 'contacts' | 'caps'>,
    Pick<Vendor, 'read'>,
    Pick<Queues, 'queueEvent'> {
  clock: Clock;
  ports: Ports;
  log: Log;
  holds: Holds;
  alert: AlertOfSource;
  /** Resolves when a failover would not lose this source's writes; undefined where that is so at once: redis/replicated.ts. */
  replicated(): Promise<void> | undefined;
  /** For each of these feedback requests: whether it belongs to a journey of any source. */
  areOwned(requestIds: readonly string[]): Promise<boolean[]>;
  /** Every source that Redis knows, this one included. */
  sources(): Promise<(Named & Pick<Journeys, 'store'>)[]>;
}

/** A journey whose customer can be asked. */
export type AskableJourney = Journey & { contact: Contact };

// The steps of a journey that asking takes.

/** The wait while another journey is asking the same person. Real time. */
export const lockedMs = 1_000;

/** A process that was suspended for longer than this, between reading the contact and sending, does not send. Real time. */
export const staleMs = 5_000;

const unclear = 'it could not be found out whether customers were asked';

/** Whether the journey is still in the same attempt to ask. */
const isAttemptOf =
  ({ intent }: Journey) =>
  (now: Journey): boolean =>
    now.intent?.token === intent?.token;

/** What is left to do after the last call of the service. */
export type Rest = () => Promise<JobResult>;

/**
 * Lets one journey at a time ask a person, by any of their addresses, over all sources. The lock is taken only when one of this
 * process's slots for calls to the service is free, so that no job holds the lock while it waits for a slot.
 * @param work gets the contact's note, as of the lock. What it leaves to a function is done under the lock, and without the slot.
 */
export async function withContact(
  asked: Pick<AskableJourney, 'contact' | 'alsoKnownAs' | 'personId'>,
  context: Pick<AskContext, 'storedAs' | 'account' | 'contacts' | 'limited' | 'untilService' | 'ports' | 'callMs'>,
  work: (last: LastAsked | undefined) => Promise<JobResult | Rest>,
): Promise<JobResult> {
  const { contacts } = context;
  const token = randomUUID();
  let person: LockedPerson | undefined;
  try {
    const end = await context.limited(async (): Promise<JobResult | Rest> => {
      // Many jobs may have begun before the first found that the service is down.
      const awayMs = await context.untilService();
      if (awayMs > 0) return { do: 'wait', delayMs: awayMs };
      // Longer than reading the contact (which is repeated after a cut connection) and creating take together. The lock of a
      // killed worker expires after this time.
      const lockMs = 3 * context.callMs + 2 * staleMs;
      person = await contacts.lock(contactKey(asked.contact), token, lockMs, linksOf(asked, context));
      // With jitter: of jobs that try at the same instant one gets the person, and the others have tried in vain.
      if (person === undefined) return { do: 'wait', delayMs: Math.round(lockedMs * (0.5 + context.ports.random())) };
      return await work(person.last);
    });
    return typeof end === 'function' ? await end() : end;
  } finally {
    if (person) await contacts.release(person, token);
  }
}

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
      trace: [...due.why, `to be asked at ${due.at.toISOString()}`],
      when: ({ dueAt, hurried }) => hurried === journey.hurried && dueAt?.getTime() !== due.at.getTime(),
    }),
  );
  // A person hurried the journey meanwhile: this time includes the delay.
  if (after?.state === 'waiting' && after.hurried !== journey.hurried) return { do: 'wait', delayMs: 0 };
  return { do: 'wait', delayMs: context.clock.until(due.at) };
}

/**
 * Ends a journey that has not asked.
 * @param reason left out: the journey is cancelled, else skipped
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

const beforeAsked = statesBefore('asked');

export async function markAsked(
  journey: Journey,
  requestId: string,
  how: string,
  context: AskContext,
  options = { late: false },
): Promise<JobResult> {
  const { clock, log } = context;
  const campaign = journey.intent?.campaign ?? journey.campaign;
  if (campaign !== undefined) await context.askedIn(campaign, options.late);
  await queueGrade(journey, context);
  const after = await context.store.update(
    journey,
    // A search may have changed the journey while the service's answer was on its way.
    ifStill(beforeAsked, {
      to: 'asked',
      at: clock.now(),
      change: { requestId, askedAt: journey.intent?.at ?? clock.now() },
      without: ['intent', 'searched'],
      trace: [`asked: feedback request ${requestId} (${how})`],
      when: (now) => now.requestId === undefined,
    }),
  );
  // A collecting pass in between may have met the answer without its journey, and stored the counts that include it.
  if (campaign !== undefined && options.late) await context.askedIn(campaign, true);
  if (after?.requestId === requestId)
    log.info({ journey: refOf(context.name, journey.id), request: requestId }, 'asked');
  // Another journey has this request: this journey's own request is still to be found.
  return after?.state === 'creating' ? { do: 'wait', delayMs: lockedMs } : done;
}

/**
 * Queues the sending of a grade that came before the journey had a request. The event holds the journey's id, and no grade.
 */
export async function queueGrade({ id, recordId, given }: Journey, context: Pick<Queues, 'queueEvent'>): Promise<void> {
  if (!given || given.delivered) return;
  await context.queueEvent({
    kind: 'external-grade',
    journeyId: id,
    recordId,
    grade: null,
    comment: null,
    at: given.at,
    key: `given:${id}:${given.at.toISOString()}`,
    what: 'the grade that was given elsewhere can be passed on now',
    receivedAt: new Date(),
  });
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

/** @param looks searches so far without a clear result */
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

/** Nobody can find out whether the customer was asked: a person has to decide. */
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
