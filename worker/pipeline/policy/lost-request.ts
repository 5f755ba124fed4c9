import { contactKey } from '../../../core/contact.ts';
import type { ContactRecord } from '../../../core/feedback/schemas.ts';
import type { Intent, Journey } from '../../journey/journey.ts';
import { elsewhere, type LastAsked } from '../../journey/last-asked.ts';
import { clockSkewMs, explains } from './throttle.ts';

type Counters = Pick<ContactRecord, 'num_appeals' | 'last_appeal'>;

interface LostRequest {
  /** When the request was made. */
  at: Date;
  why: string;
  /** Only the service knows of the request, so another program may have made the request. */
  isSuspicion: boolean;
  /** The journey's own attempt that was searched for before: the new search uses the same intent. */
  sought?: Intent;
}

/**
 * Redis may have lost its last writes (a failover, a power cut, a restored backup), and with them the fact that this journey has asked.
 * The contact's note, which lies on another node of a cluster, and the service still know of the request. When either knows of a request
 * since the closing that no journey explains, closeloop searches for that request before it asks the customer.
 */
export function lostRequest(
  journey: Journey,
  ref: string,
  known: Counters | undefined,
  lastHere: LastAsked | undefined,
): LostRequest | undefined {
  const late = lateRequest(journey, ref, known, lastHere);
  if (late) return late;
  // The outcome of this journey's own attempts is known.
  if ((journey.attempts ?? 0) > 0) return undefined;
  // A note from before the closing belongs to a removed journey with the same number.
  const since = journey.closedAt.getTime() - clockSkewMs;
  const notes = lastHere ? [...(lastHere.withdrawn ? [] : [lastHere]), ...(lastHere.earlier ?? [])] : [];
  const noteOf = (whose: string) => notes.find(({ at, journey }) => journey === whose && at.getTime() >= since);
  const own = noteOf(ref);
  if (own) {
    const why = 'its contact was noted as asked by it, which the journey does not know';
    return { at: own.at, why, isSuspicion: false };
  }
  const last = known?.last_appeal;
  const isLastUnknown = last && last.getTime() >= since && !explains(lastHere, last);
  // The note may also hold a request that only the service knew of, and that was noted when another journey asked since.
  const at = isLastUnknown ? last : noteOf(elsewhere)?.at;
  const why = 'the service asked this contact since the closing, and no journey knows of it';
  return at && { at, why, isSuspicion: true };
}

/** The request of the journey's own attempt was not found: the service may have received that request, or a later attempt's request, since. */
function lateRequest(
  { searched, contact }: Journey,
  ref: string,
  known: Counters | undefined,
  lastHere: LastAsked | undefined,
): LostRequest | undefined {
  if (!searched || !contact || searched.contact !== contactKey(contact)) return undefined;
  const { at, isSuspicion = false } = searched.intent;
  if (lastHere?.journey === ref && lastHere.at > searched.at) {
    const why = 'its contact was noted as asked by it once more, which the journey does not know';
    return { at, why, isSuspicion: false, sought: searched.intent };
  }
  const lastAppeal = known?.last_appeal?.getTime();
  const hasMoved = (known?.num_appeals ?? 0) !== searched.numAppeals || lastAppeal !== searched.lastAppeal?.getTime();
  if (!hasMoved) return undefined;
  const why = "the contact's counters at the service have moved since its request was looked for";
  return { at, why, isSuspicion, sought: searched.intent };
}
