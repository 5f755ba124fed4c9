import { randomUUID } from 'node:crypto';
import { type Contact, contactKey } from '../../../core/contact.ts';
import type { Journeys, Policy, Service } from '../context.ts';
import type { JobResult } from '../jobs.ts';
import { lockedMs } from './ask-steps.ts';

/** A process that stood still for longer than this, between looking at the contact and sending, no longer sends. Real time. */
export const staleMs = 5_000;

type ContactContext = Pick<Journeys, 'contacts'> & Pick<Service, 'limited' | 'untilService'> & Pick<Policy, 'callMs'>;

/**
 * One journey at a time asks a person, over all sources. The lock is taken only when one of this process's places for
 * calls to the service is free, so that it is never held while queueing for one.
 */
export async function withContact(
  contact: Contact,
  context: ContactContext,
  work: () => Promise<JobResult>,
): Promise<JobResult> {
  const key = contactKey(contact);
  const token = randomUUID();
  return await context.limited(async () => {
    // Many jobs may have begun before the first of them found out.
    const awayMs = await context.untilService();
    if (awayMs > 0) return { do: 'wait', delayMs: awayMs };
    // Longer than a look at the contact (a cut connection is tried twice) and a create take together: then the lock of a
    // killed worker ends by itself.
    const lockMs = 3 * context.callMs + 2 * staleMs;
    if (!(await context.contacts.lock(key, token, lockMs))) return { do: 'wait', delayMs: lockedMs };
    try {
      return await work();
    } finally {
      await context.contacts.release(key, token);
    }
  });
}
