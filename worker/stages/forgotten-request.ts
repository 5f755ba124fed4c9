import type { ContactRecord } from '../../core/feedback/schemas.ts';
import type { LastAsked } from '../journey/contacts.ts';
import type { Journey } from '../journey/journey.ts';

/** Clocks of two systems differ. */
const clockSkewMs = 120_000;

/**
 * Redis may have lost its last moments (a failover, a power cut, a restored backup), and with them that this journey has
 * asked. Two others remember: the contact's own note here, which lies elsewhere in a cluster, and the service. When either
 * knows of a request since the closing that no journey's note explains, it has to be looked for before anybody is asked.
 * `at`: when it was made. `isSuspicion`: only the service knows of it, so that somebody else may have made it.
 */
export function forgottenRequest(
  journey: Journey,
  ref: string,
  known: Pick<ContactRecord, 'last_appeal'> | undefined,
  lastHere: LastAsked | undefined,
): { at: Date; why: string; isSuspicion: boolean } | undefined {
  // What an attempt of this journey's own came to is known.
  if ((journey.attempts ?? 0) > 0) return undefined;
  const since = journey.closedAt.getTime() - clockSkewMs;
  // From before the closing: of a journey that was removed, whose number was given again.
  if (lastHere?.journey === ref && !lastHere.withdrawn && lastHere.at.getTime() >= since) {
    const why = 'its contact was noted as asked by it, which the journey does not know';
    return { at: lastHere.at, why, isSuspicion: false };
  }
  const last = known?.last_appeal;
  if (!last || last.getTime() < since) return undefined;
  if (explains(lastHere, last)) return undefined;
  const why = 'the service asked this contact since the closing, and no journey knows of it';
  return { at: last, why, isSuspicion: true };
}

/** Is the service's `last_appeal` the request of this note? */
export function explains(lastHere: LastAsked | undefined, lastAppeal: Date): boolean {
  if (!lastHere) return false;
  return (lastHere.scheduled ?? lastHere.at).getTime() >= lastAppeal.getTime() - clockSkewMs;
}
