import type { PresentedRecord } from '../../core/connector/contract.ts';
import { type Contact, contactKey } from '../../core/contact.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import { slices } from '../../core/spread.ts';
import type { Journey, JourneyState } from '../journey/journey.ts';
import { mayHaveAsked } from '../journey/outcomes.ts';
import type { SkipReason } from '../journey/reasons.ts';
import { refOf } from '../journey/refs.ts';
import { laterClosing, type PreferContext } from '../pipeline/ask/later-closing.ts';
import { decide, plannedAt, type Verdict } from '../pipeline/policy/decide.ts';
import { onList, recipientOf } from '../pipeline/policy/recipient.ts';
import { lastCounted } from '../pipeline/policy/throttle.ts';
import { heldUntil, type Throttled, throttled } from '../pipeline/policy/throttled.ts';
import type { ReadingContext } from '../pipeline/reading-source.ts';
import { inCampaign, type LoadedRule } from '../pipeline/rules.ts';
import { type RecordStatus, statusOf } from '../pipeline/vendor.ts';
import { capsAhead, hitsNow } from './limits.ts';

/** The decision about a closing by everything that is known now. `skip` says why nobody would be asked. */
export interface Forecast {
  decision: 'ask' | 'skip';
  reason?: SkipReason | undefined;
  why?: string | undefined;
  rule?: LoadedRule | undefined;
  /** Left out if the decision needed no request. */
  request?: {
    campaign: Campaign;
    contact: Contact;
    /** Who would get it in the customer's place, in test mode. */
    test?: Contact;
    values: NonNullable<Journey['values']>;
    /** The expression of each value. */
    sources: Record<string, string>;
    dueAt: Date;
  };
  trace: string[];
}

/** A record as it was read now, and the decision about it. */
export type Preview =
  | { is: 'out'; why: string; record: PresentedRecord | undefined }
  /** `ifClosed`: left out where nothing of the record is kept. */
  | { is: 'open'; readAgainAt?: Date | undefined; record: PresentedRecord; ifClosed: Forecast | undefined }
  | {
      is: 'closed';
      record: PresentedRecord;
      closing: string;
      closedAt: Date;
      /** The journey that the closing has, or would get. */
      ref: string;
      journey: Journey | undefined;
      forecast: Forecast;
    };

export type PreviewContext = ReadingContext & Pick<PreferContext, 'sources'>;

/** Reads the record, and says what would be sent about it. Sends, stores and reserves nothing. @throws what the vendor answers */
export async function previewOf(recordId: string, context: PreviewContext): Promise<Preview> {
  return await previewOfStatus(await readRecord(recordId, context), context);
}

/** @param options `backfilled`: no closing is too old */
async function previewOfStatus(
  status: RecordStatus,
  context: PreviewContext,
  options: { backfilled?: true } = {},
): Promise<Preview> {
  if (status.is === 'out') return status;
  const { record } = status;
  if (status.is === 'open') {
    const { readAgainAt } = status;
    const ifClosed = isUnkept(status) ? undefined : await ifClosedAt(record, context, readAgainAt);
    return { is: 'open', readAgainAt, record, ifClosed };
  }
  const { closing, closedAt } = status;
  const { id, exists } = await context.store.records.nameOf(record.currentId, closing);
  const journey = exists ? await context.store.get(id) : undefined;
  const ref = refOf(context.name, id);
  const planned = unlessAsked(
    journey,
    ref,
    await forecastOf(record, id, { ...journey, ...options, closedAt }, context),
  );
  const forecast = await unlessLater(journey ?? begun(id, record, { closing, closedAt }, context), planned, context);
  return { is: 'closed', record, closing, closedAt, ref, journey, forecast };
}

/** Whether nothing of a record that is open is kept: a decision about it would be about an empty record. */
export function isUnkept(status: RecordStatus): boolean {
  return status.is === 'open' && Object.keys(status.record.shape).length === 0;
}

export const unkept = 'closeloop keeps nothing of a record of this source while it is open';

/** A closing of the past, and what would become of it. */
export interface PreviewedClosing {
  record: string;
  /** The journey that the closing has, or would get; the record where it is not closed any more. */
  ref: string;
  /** The state of the journey that the closing has. */
  state?: JourneyState | undefined;
  forecast: Omit<Forecast, 'trace'>;
}

/** So many closings are decided about at once. */
const atOnce = 25;

/**
 * Reads these records, and says of each that was closed in that time what would be sent, however long ago that was. Sends, stores and
 * reserves nothing.
 * @throws what the vendor answers
 */
export async function* previewClosings(
  recordIds: readonly string[],
  { since, until }: { since: Date; until: Date },
  context: PreviewContext,
): AsyncGenerator<PreviewedClosing> {
  const results = recordIds.length === 0 ? [] : await context.source.read(recordIds);
  const read = results.map((result, i) => ({ record: recordIds[i] ?? '', status: statusOf(result) }));
  for (const some of slices(read, atOnce)) {
    const previews = some.map(async ({ record, status }) => ({
      record,
      preview: await previewOfStatus(status, context, { backfilled: true }),
    }));
    for (const { record, preview } of await Promise.all(previews)) {
      const notClosed = { record, ref: refOf(context.name, record) };
      if (preview.is === 'out') {
        yield { ...notClosed, forecast: { decision: 'skip', reason: 'out', why: preview.why } };
      } else if (preview.is === 'open') {
        yield { ...notClosed, forecast: { decision: 'skip', reason: 'reopened', why: 'it is not closed any more' } };
      } else if (preview.closedAt >= since && preview.closedAt <= until) {
        yield { record, ref: preview.ref, state: preview.journey?.state, forecast: preview.forecast };
      }
    }
  }
}

/** @throws what the vendor answers */
export async function readRecord(recordId: string, { source }: Pick<ReadingContext, 'source'>): Promise<RecordStatus> {
  const [result] = await source.read([recordId]);
  if (!result) throw new Error('the connector gave no result');
  return statusOf(result);
}

/** The decision that closeloop would make if the record closed once more. */
export async function ifClosedAt(
  record: PresentedRecord,
  context: ReadingContext,
  closedAt = context.clock.now(),
): Promise<Forecast> {
  const { id } = await context.store.records.nameOf(record.currentId, notYet);
  return await forecastOf(record, id, { closedAt }, context);
}

/** A name that no closing has. */
const notYet = 'not yet';

/** Nobody is asked again about a closing that was asked about, whatever the rules say now. */
function unlessAsked(journey: Journey | undefined, ref: string, forecast: Forecast): Forecast {
  if (journey === undefined || !mayHaveAsked(journey)) return forecast;
  const what = journey.requestId === undefined ? 'may have been asked' : 'was asked already';
  const why = `its customer ${what}: journey ${ref} is ${journey.state}`;
  return { ...forecast, decision: 'skip', reason: 'asked-already', why };
}

/** The beginning of a journey, for a closing of which no event has come. */
function begun(
  id: string,
  { currentId: recordId }: PresentedRecord,
  { closing, closedAt }: Pick<Journey, 'closing' | 'closedAt'>,
  { storedAs: source, clock }: PreviewContext,
): Journey {
  const now = clock.now();
  return { id, source, recordId, state: 'received', closing, closedAt, receivedAt: now, updatedAt: now };
}

/** If a throttle prefers the latest closing, closeloop asks about a later closing of the person that waits, in place of this closing. */
async function unlessLater(journey: Journey, forecast: Forecast, context: PreviewContext): Promise<Forecast> {
  const { decision, rule, request } = forecast;
  if (decision === 'skip' || rule === undefined || request === undefined) return forecast;
  const { campaign, contact, dueAt } = request;
  const closing = { dueAt, ...journey, contact: journey.contact ?? contact };
  const later = await laterClosing(closing, inCampaign(rule, campaign.id), campaign, context);
  if (later === undefined) return forecast;
  return {
    ...forecast,
    decision: 'skip',
    reason: 'superseded',
    why: `${later.why}; asked only if nothing comes of that`,
  };
}

/** Decides about a closing by everything that is known now. */
export async function forecastOf(
  record: PresentedRecord,
  journeyId: string,
  closing: Pick<Journey, 'closedAt' | 'dueAt' | 'backfilled' | 'hurried'>,
  context: ReadingContext,
): Promise<Forecast> {
  const history = await context.store.records.historyOf(record.currentId);
  const now = context.clock.now();
  const verdict = await decide({ ...closing, journeyId, history }, record, context, now);
  if (verdict.do === 'skip') {
    const { reason, why, trace, rule } = verdict;
    return { decision: 'skip', reason, why, trace, rule };
  }
  const { rule, campaign, contact, place, values, sources, dueAt } = verdict;
  // `request` has the time, for whom would be asked.
  const trace = verdict.trace.filter((line) => line !== plannedAt(dueAt));
  const to = recipientOf(contact, rule, campaign.type);
  const no = await heldBack({ ...verdict, contact: to.contact }, to.isTest, journeyId, context);
  const held = no && heldUntil(no, { ...closing, contact, place }, rule, campaign, context);
  if (held?.do === 'wait') trace.push(...held.why);
  const { reason, why } = held?.do === 'skip' ? held : {};
  const at = held?.do === 'wait' ? held.at : dueAt;
  if (why === undefined) trace.push(...(await capsAhead(rule, campaign, at, context)));
  const test = to.isTest ? { test: to.contact } : {};
  const request = { campaign, contact, ...test, values, sources, dueAt: at };
  return { decision: why === undefined ? 'ask' : 'skip', reason, why, rule, request, trace };
}

/** The lists of the service and the throttles that would keep the person from being asked at that time. */
async function heldBack(
  { rule, contact, dueAt }: Extract<Verdict, { do: 'ask' }>,
  isTest: boolean,
  journeyId: string,
  { storedAs, contacts, feedback, policy, clock }: ReadingContext,
): Promise<Throttled | undefined> {
  const known = await feedback.contact(contact);
  const listed = onList(known, rule);
  if (listed) return { do: 'skip', ...listed };
  if (isTest) return undefined;
  const key = contactKey(contact);
  const note = { at: dueAt, journey: refOf(storedAs, journeyId) };
  const last = lastCounted(known, await contacts.lastAsked(key));
  return throttled(await hitsNow(key, rule, { last, note }, { contacts, policy }), clock.now());
}
