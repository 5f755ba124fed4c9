import { type Contact, contactKey } from '../../../core/contact.ts';
import type { RequestPage } from '../../../core/feedback/client.ts';
import { dayBefore, type FeedbackRequest, isCancelled, isMasked, isTo } from '../../../core/feedback/request-form.ts';
import { lookUp } from '../../../core/look-up.ts';
import type { Intent, Journey } from '../../journey/journey.ts';
import { recordOf } from '../../journey/refs.ts';
import { clockSkewMs } from '../policy/throttle.ts';
import type { AskContext } from './ask-steps.ts';

export type FoundRequest =
  | { is: 'created'; requestId: string; how: string }
  /** No request was found. The contact's counters are the evidence. */
  | { is: 'absent'; how: string; numAppeals: number; lastAppeal: Date | null }
  /** The search is not clear, but a later search may be clear. */
  | { is: 'not yet clear'; why: string }
  /** Asking again might send a second message: a person decides. */
  | { is: 'unclear'; why: string };

/** The service may cut times to the second. */
const roundingMs = 1_000;

export interface WantedRequest {
  journey: Pick<Journey, 'closedAt' | 'values'>;
  contact: Contact;
  intent: Intent;
  /** The other journeys about this contact, of every source. */
  others(): Promise<Journey[]>;
}

/**
 * Searches for the request of a create whose outcome is unknown, as the service has no idempotency key (design.md, rule 1). The
 * search looks in the campaign's export for the marker, if the request was sent with it; else for a request to this contact
 * since the intent that no journey knows. An export may lag behind, and a row may move to a page that was read already: that the
 * request is absent counts only where the contact's counters agree.
 */
export async function findRequest(
  sought: WantedRequest,
  context: Pick<AskContext, 'feedback' | 'exports' | 'areOwned'>,
): Promise<FoundRequest> {
  const { journey, contact, intent } = sought;
  const { campaign, marker, isSuspicion = false } = intent;
  const key = contactKey(contact);
  // A request with the marker from before the closing belongs to a removed journey, whose number was used again. A
  // suspicion is about one request since the closing, and there may be several. By the vendor's clock a closing may lie in the future.
  const since = (marker || isSuspicion) && journey.closedAt < intent.at ? journey.closedAt : intent.at;
  // Parameters beside the campaign narrow the list only where the configuration names them, so each record is checked.
  const dateFrom = dayBefore(since);
  const candidates: FeedbackRequest[] = [];
  const masked: FeedbackRequest[] = [];
  const ofRecord: FeedbackRequest[] = [];
  let unreadable = 0;
  let created: FoundRequest | undefined;
  const visit = (page: RequestPage): boolean => {
    unreadable += page.unreadable.length;
    for (const request of page.results) {
      if (request.scheduled && isBefore(request.scheduled, since)) continue;
      // A cancelled request reached no customer.
      if (isSuspicion && isCancelled(request.status)) continue;
      if (!marker && isTo(request, key)) candidates.push(request);
      if (!marker && isMasked(request)) masked.push(request);
      const mark = marker && lookUp(request.customFields, marker.field);
      if (mark !== undefined && mark === marker?.value) {
        created = { is: 'created', requestId: request.id, how: `found by its field "${marker.field}"` };
        return true;
      }
      if (isSuspicion && marker && typeof mark === 'string' && recordOf(mark) === recordOf(marker.value))
        ofRecord.push(request);
    }
    return false;
  };
  await context.exports.read({ campaign, contact, dateFrom, visit }, context.feedback);
  if (created) return created;
  if (unreadable > 0) {
    return {
      is: 'unclear',
      why: `${unreadable} requests of campaign ${campaign} could not be read; one of them may be it`,
    };
  }
  const [ofLost, ...more] = await unowned(ofRecord, context);
  if (more.length > 0) {
    return { is: 'unclear', why: `${1 + more.length} requests name its record by other numbers: link the right one` };
  }
  if (ofLost) {
    return { is: 'created', requestId: ofLost.id, how: 'found by its record, whose journey had another number' };
  }
  const free = await unowned(candidates, context);
  return byValues(free, sought) ?? (await byCounters(sought, await unowned(masked, context), context));
}

async function unowned(
  requests: readonly FeedbackRequest[],
  { areOwned }: Pick<AskContext, 'areOwned'>,
): Promise<FeedbackRequest[]> {
  const owned = await areOwned(requests.map(({ id }) => id));
  return requests.filter((_, i) => !owned[i]);
}

/**
 * Decides by custom field values which of the unknown requests to this contact belongs to this journey. A request with
 * other values was made by another program, or the service shows the values in another form: then a person decides, unless
 * nothing is known to have been sent. Undefined: none of the requests is this journey's.
 */
function byValues(
  free: readonly FeedbackRequest[],
  { journey, intent: { campaign, isSuspicion = false } }: WantedRequest,
): FoundRequest | undefined {
  const compared = free.map((request) => ({ request, is: compareValues(journey.values, request.customFields) }));
  const fitting = compared.filter(({ is }) => is !== 'other');
  if (fitting.length > 1) {
    return {
      is: 'unclear',
      why: `${fitting.length} requests to this contact in campaign ${campaign} may be it: link the right one, or ask again`,
    };
  }
  const [only] = fitting;
  if (only && isSuspicion && only.is !== 'same') {
    const why = `request ${only.request.id} to this contact may be it, or somebody else's: no custom field tells; link it, or ask again`;
    return { is: 'unclear', why };
  }
  if (only) return { is: 'created', requestId: only.request.id, how: 'found by its contact and time in the export' };
  const [others] = compared;
  if (!others || isSuspicion) return undefined;
  return { is: 'not yet clear', why: `request ${others.request.id} may be it, but shows other values` };
}

/**
 * The request is not in the export: compares the contact's counters with those before the attempt, less the requests that other
 * journeys have made since.
 * @param masked requests of no journey whose contacts are not shown any more
 */
async function byCounters(
  { contact, intent, journey, others }: WantedRequest,
  masked: readonly FeedbackRequest[],
  { feedback }: Pick<AskContext, 'feedback'>,
): Promise<FoundRequest> {
  const now = await feedback.contact(contact);
  const more = (now?.num_appeals ?? 0) - intent.numAppeals;
  const last = now?.last_appeal?.getTime() ?? 0;
  const lastBefore = intent.lastAppeal?.getTime() ?? 0;
  // The service shows as little about a masked contact as about a contact that was never asked.
  const hidden = now ? undefined : masked.find((one) => compareValues(journey.values, one.customFields) !== 'other');
  if (hidden) {
    const why = `request ${hidden.id} may be it: its contact was masked at the service since; cancel the journey, or ask again`;
    return { is: 'unclear', why };
  }
  const counters = { numAppeals: now?.num_appeals ?? 0, lastAppeal: now?.last_appeal ?? null };
  if (more === 0 && last === lastBefore) {
    return { is: 'absent', how: "not in the export, and the contact's counters have not moved", ...counters };
  }
  const theirs = (await others()).flatMap(({ requestId, askedAt }) => {
    const isNew = askedAt && askedAt >= intent.at && askedAt.getTime() > lastBefore + roundingMs;
    return requestId !== undefined && isNew ? [askedAt.getTime()] : [];
  });
  const off = (at: number) => Math.abs(last - at);
  const isLastTheirs = last === lastBefore || theirs.some((at) => off(at) <= off(intent.at.getTime()) + roundingMs);
  if (more >= 0 && more <= theirs.length && isLastTheirs) {
    const how = "not in the export, and other journeys' requests explain the contact's counters";
    return { is: 'absent', how, ...counters };
  }
  const why = `the contact's counters at the service moved, but campaign ${intent.campaign}'s export shows no new request to them: see whether one was sent since ${intent.at.toISOString()}`;
  return { is: 'not yet clear', why };
}

function isBefore(scheduled: Date, at: Date): boolean {
  return scheduled.getTime() < at.getTime() - clockSkewMs;
}

export type Comparison = 'same' | 'other' | 'nothing to compare';

const dateOrTime = /^(\d{4}-\d{2}-\d{2}|\d{2}:\d{2})/;
const wordsOf: Record<string, string> = { yes: 'true', no: 'false', '1': 'true', '0': 'false' };

/**
 * Compares the custom field values of a feedback request with the journey's. The service may show a value in a form of its own:
 * case, spaces and type are ignored, Yes/No has several words, and a date or time in another format is not compared, nor is a
 * field that the request does not show.
 */
export function compareValues(values: Journey['values'], shown: Readonly<Record<string, unknown>>): Comparison {
  const verdicts = Object.entries(values ?? {}).map(([name, value]) => compareValue(value, lookUp(shown, name)));
  if (verdicts.includes('other')) return 'other';
  return verdicts.includes('same') ? 'same' : 'nothing to compare';
}

function compareValue(value: string | number | boolean, shown: unknown): Comparison {
  if (shown === undefined || shown === null || typeof shown === 'object') return 'nothing to compare';
  const [ours, theirs] = [plain(value), plain(shown)];
  if (ours === theirs) return 'same';
  if (typeof value === 'boolean') return lookUp(wordsOf, theirs) === ours ? 'same' : 'other';
  if (typeof value === 'number') return theirs !== '' && Number(theirs) === value ? 'same' : 'other';
  return dateOrTime.test(ours) ? 'nothing to compare' : 'other';
}

function plain(value: unknown): string {
  return String(value).normalize('NFC').replace(/\s+/g, ' ').trim().toLowerCase();
}
