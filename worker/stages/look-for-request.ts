import { type Contact, contactKey } from '../../core/contact.ts';
import type { FeedbackRequest } from '../../core/feedback/request-form.ts';
import type { SourceContext } from '../context.ts';
import type { Intent } from '../journey/journey.ts';

export type Found =
  | { is: 'created'; requestId: string; how: string }
  | { is: 'absent'; how: string }
  /** A second message can't be excluded: a person decides. */
  | { is: 'unclear'; why: string };

/** Clocks of two systems differ: a request scheduled this long before our intent may still be ours. */
const clockSkewMs = 120_000;

/**
 * After a create of unknown outcome: did the service get it? The service has no idempotency key (design.md, rule 1).
 * With the marker field, the campaign's export answers for certain. Without it, the export is searched for a request
 * to this contact since the intent that no journey knows, and the contact's counters must agree with what it says.
 */
export async function lookForRequest(
  sought: {
    contact: Contact;
    intent: Intent;
    closedAt: Date;
  },
  context: Pick<SourceContext, 'feedback' | 'areOwned'>,
): Promise<Found> {
  const { contact, intent, closedAt } = sought;
  const { campaign, marker } = intent;
  const key = contactKey(contact);
  // Parameters beside the campaign narrow the list only where the configuration names them; each record is looked at.
  const dateFrom = new Date(intent.at.getTime() - 86_400_000).toISOString().slice(0, 10);
  const candidates: FeedbackRequest[] = [];
  let unreadable = 0;
  for await (const page of context.feedback.requestPages({ campaign, contact, dateFrom })) {
    unreadable += page.unreadable.length;
    for (const request of page.results) {
      if (marker) {
        // One from before the closing belongs to a journey that was removed, whose number was given again.
        const isOurs = !(request.scheduled && isBefore(request.scheduled, closedAt));
        if (isOurs && request.customFields[marker.field] === marker.value) {
          return { is: 'created', requestId: request.id, how: `found by its field "${marker.field}"` };
        }
      } else if (isTo(request, key) && !(request.scheduled && isBefore(request.scheduled, intent.at))) {
        candidates.push(request);
      }
    }
  }
  if (unreadable > 0) {
    return {
      is: 'unclear',
      why: `${unreadable} requests of campaign ${campaign} could not be read; one of them may be it`,
    };
  }
  if (marker) return { is: 'absent', how: `no request has it in the field "${marker.field}"` };

  const owned = await context.areOwned(candidates.map(({ id }) => id));
  const free = candidates.filter((_, i) => !owned[i]);
  const [only] = free;
  if (only && free.length === 1) {
    return { is: 'created', requestId: only.id, how: 'found by its contact and time in the export' };
  }
  if (free.length > 1) {
    return {
      is: 'unclear',
      why: `${free.length} requests to this contact in campaign ${campaign} may be it: link the right one, or ask again`,
    };
  }
  const now = await context.feedback.contact(contact);
  const counters = { numAppeals: now?.num_appeals ?? 0, lastAppeal: now?.last_appeal ?? null };
  if (counters.numAppeals === intent.numAppeals && counters.lastAppeal?.getTime() === intent.lastAppeal?.getTime()) {
    return { is: 'absent', how: "not in the export, and the contact's counters have not moved" };
  }
  return {
    is: 'unclear',
    why: `the contact's counters at the service moved, but campaign ${campaign}'s export shows no new request to them`,
  };
}

function isBefore(scheduled: Date, at: Date): boolean {
  return scheduled.getTime() < at.getTime() - clockSkewMs;
}

/** @param key of the contact */
export function isTo(request: FeedbackRequest, key: string): boolean {
  const { phone, email, identifier } = request;
  return (
    (phone !== null && contactKey({ kind: 'phone', value: phone }) === key) ||
    (email !== null && contactKey({ kind: 'email', value: email }) === key) ||
    (identifier !== null && contactKey({ kind: 'identifier', value: identifier }) === key)
  );
}
