import { randomUUID } from 'node:crypto';
import { type Contact, contactKey } from '../../../core/contact.ts';
import type { Log, Ports } from '../../../core/ports.ts';
import type { LockedPerson } from '../../journey/contacts.ts';
import type { Journey } from '../../journey/journey.ts';
import type { LastAsked } from '../../journey/last-asked.ts';
import { refOf } from '../../journey/refs.ts';
import { ifStill, statesBefore } from '../../journey/transitions.ts';
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

/** The parts of a source that asking needs. */
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
  /** Resolves when a failover would not lose this source's writes; undefined where there is nothing to wait for (redis/replicated.ts). */
  replicated(): Promise<void> | undefined;
  /** Says of each of these feedback requests whether it belongs to a journey of any source. */
  areOwned(requestIds: readonly string[]): Promise<boolean[]>;
  /** Every source that Redis knows, this one included. */
  sources(): Promise<(Named & Pick<Journeys, 'store'>)[]>;
}

/** A journey whose customer can be asked. */
export type AskableJourney = Journey & { contact: Contact };

/** The wait while another journey is asking the same person. Real time. */
export const lockedMs = 1_000;
/** A process that was suspended for longer than this, between reading the contact and sending, does not send. Real time. */
export const staleMs = 5_000;

/** The work that is left after the last call of the service. */
export type Rest = () => Promise<JobResult>;

/**
 * Lets one journey at a time ask a person, by any of their addresses, over all sources. The lock is taken only when one of this
 * process's slots for calls to the service is free, so that no job holds the lock while it waits for a slot.
 * @param work gets the contact's note as read with the lock. A function that it returns runs under the lock, but without the slot.
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
      // The wait has jitter: of the jobs that try at the same instant only one gets the lock.
      if (person === undefined) return { do: 'wait', delayMs: Math.round(lockedMs * (0.5 + context.ports.random())) };
      return await work(person.last);
    });
    return typeof end === 'function' ? await end() : end;
  } finally {
    if (person) await contacts.release(person, token);
  }
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
