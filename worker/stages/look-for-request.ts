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
    campaign: number;
    contact: Contact;
    intent: Intent;
    marker: { field: string; value: string } | undefined;
  },
  context: Pick<SourceContext, 'feedback' | 'store'>,
): Promise<Found> {
  const { campaign, contact, intent, marker } = sought;
  const key = contactKey(contact);
  const candidates: FeedbackRequest[] = [];
  for await (const page of context.feedback.requestPages({ campaign })) {
    for (const request of page.results) {
      if (marker) {
        if (request.customFields[marker.field] === marker.value) {
          return { is: 'created', requestId: request.id, how: `found by its field "${marker.field}"` };
        }
      } else if (isTo(request, key) && !(request.scheduled && isBefore(request.scheduled, intent))) {
        candidates.push(request);
      }
    }
  }
  if (marker) return { is: 'absent', how: `no request has it in the field "${marker.field}"` };

  const owners = await context.store.idsOfRequests(candidates.map(({ id }) => id));
  const free = candidates.filter((_, i) => owners[i] === undefined);
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

function isBefore(scheduled: Date, intent: Intent): boolean {
  return scheduled.getTime() < intent.at.getTime() - clockSkewMs;
}

function isTo(request: FeedbackRequest, key: string): boolean {
  const { phone, email, identifier } = request;
  return (
    (phone !== null && contactKey({ kind: 'phone', value: phone }) === key) ||
    (email !== null && contactKey({ kind: 'email', value: email }) === key) ||
    (identifier !== null && contactKey({ kind: 'identifier', value: identifier }) === key)
  );
}
