import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { contactKey } from '../../../core/contact.ts';
import { messageOf, outcomeOfError } from '../../../core/errors.ts';
import type { FeedbackRequest } from '../../../core/feedback/request-form.ts';
import type { Campaign, ContactRecord } from '../../../core/feedback/schemas.ts';
import type { Intent, Journey } from '../../journey/journey.ts';
import { asEarlier, beforeThat, type LastAsked } from '../../journey/last-asked.ts';
import { askedStates, endedUnasked } from '../../journey/outcomes.ts';
import type { Skip } from '../../journey/reasons.ts';
import { markOf } from '../../journey/refs.ts';
import { ifStill } from '../../journey/transitions.ts';
import type { AskDecision } from '../decision.ts';
import { eraseIfForgotten, erasureSince } from '../erasure-guard.ts';
import { done, type JobResult } from '../jobs.ts';
import { tooOld } from '../policy/asking-time.ts';
import { type Ask, askedAlready } from '../policy/decide.ts';
import { lostRequest } from '../policy/lost-request.ts';
import { onList, type Recipient, recipientOf, testMark } from '../policy/recipient.ts';
import { hitsOf, hitsOfLast, lastCounted, limitsOf, type Scope, scopesOf } from '../policy/throttle.ts';
import { askNeedsOf, type CampaignRule, capsOn } from '../rules.ts';
import { isFresh } from '../vendor.ts';
import { type AskableJourney, type AskContext, markAsked, type Rest, staleMs, withContact } from './ask-steps.ts';
import { laterClosing } from './later-closing.ts';
import {
  backToWaiting,
  endJourney,
  holdBack,
  type OwnTurn,
  searchBeforeAsking,
  searchLater,
  wait,
} from './not-asked.ts';
import { takePlace } from './place.ts';
import { faultOf, isAboutValues } from './refused.ts';

/**
 * Asks the customer by a decision that was just made.
 * @param journey the journey with the fields that the decision sets; may be a draft
 */
export async function askBy(
  decision: AskDecision,
  journey: Journey,
  context: AskContext,
  pass = passOnce(context),
): Promise<JobResult> {
  if (!hasContact(journey)) throw new Error(`journey ${journey.id} is to ask, and has no contact`);
  const { rule, campaign, until } = decision.verdict;
  await pass(rule);
  const turn = await turnOf(journey, rule, campaign, context);
  if (turn.do === 'skip') return await endJourney(journey, turn, context);
  if (turn.do !== 'ask') return await wait(journey, turn, context);
  const to = recipientOf(journey.contact, rule, campaign.type);
  const wanted = { journey, decision, rule, campaign, to, until };
  return await withContact(to.isTest ? to : journey, context, (lastHere) => create(wanted, lastHere, context));
}

/** Whether it is this journey's turn, by throttles that prefer a person's latest closing, and by caps. */
export async function turnOf(
  journey: AskableJourney,
  rule: CampaignRule,
  campaign: Campaign,
  context: AskContext,
): Promise<OwnTurn> {
  const { contacts, caps, storedAs, policy } = context;
  // Nearly always no throttle prefers the latest, and no closing is noted as waiting.
  const later = contacts.comparesWaiting ? await laterClosing(journey, rule, campaign, context) : undefined;
  if (later) return { do: 'give way', at: later.dueAt, why: [later.why] };
  // A slot that was taken before test mode began belongs to a customer.
  if (rule.test) await caps.giveBack(markOf(journey));
  const scopes = capsOn(storedAs, rule, campaign, policy);
  return scopes.length === 0 ? { do: 'ask' } : await takePlace(journey, rule, campaign, scopes, context);
}

/** Passes each hold once in a job: the first pass uses up the ticket that the job has to try a held part. */
export function passOnce({ holds }: AskContext): (rule: CampaignRule) => Promise<void> {
  const passed = new Set<string>();
  return async (rule) => {
    const needs = askNeedsOf(rule).filter((need) => !passed.has(need));
    for (const need of needs) passed.add(need);
    await holds.pass('ask', needs);
  };
}

export function hasContact(journey: Journey): journey is AskableJourney {
  return journey.contact !== undefined;
}

/** A request that is due. */
interface Wanted extends Pick<Ask, 'rule' | 'campaign' | 'until'> {
  journey: AskableJourney;
  /** The decision to make the request. */
  decision: AskDecision;
  to: Recipient;
}

/** The data of one attempt to ask, which the contact's lock protects (`withContact`). */
interface Attempt extends Wanted {
  /** The recipient at the service, before the attempt. */
  known: ContactRecord | undefined;
  /** The last request to the recipient that isn't this journey's. */
  last: LastAsked | undefined;
  scopes: readonly Scope[];
  /** After this moment the readings are too old to send, or a window has closed. Real time. */
  sendDeadline: Date;
}

/** Creates the feedback request, once, under the recipient's lock (`withContact`). */
async function create(wanted: Wanted, lastHere: LastAsked | undefined, context: AskContext): Promise<JobResult | Rest> {
  const { journey, decision, rule, campaign, to, until } = wanted;
  const { clock, feedback } = context;
  const { contact, isTest } = to;
  const ref = markOf(journey);
  // While the job waited for a slot the window has closed, or the record may have changed: decide again.
  if ((until !== undefined && clock.now() >= until) || !isFresh(decision.reading)) return { do: 'wait', delayMs: 0 };

  const begunAt = performance.now();
  if (await endForErasure(journey, context)) return done;
  const already = decision.isFenced ? undefined : await askedSince(journey, rule, context);
  if (already !== undefined) return await endJourney(journey, already, context);
  const known = await feedback.contact(contact);
  const sendDeadline = new Date(Date.now() + Math.min(staleMs, openForMs(until, clock)));
  // A note of this journey is of an earlier attempt that sent nothing: it does not count.
  const last = lastHere?.journey === ref ? beforeThat(lastHere) : lastHere;
  // Throttles protect customers; a test asks the same contact again and again.
  const scopes = isTest ? [] : scopesOf(rule, context.policy);
  const attempt: Attempt = { ...wanted, known, last, scopes, sendDeadline };
  // A dry run has sent nothing that could be lost.
  const asked = isTest ? { ...journey, contact } : journey;
  const lost = context.dryRun ? undefined : lostRequest(asked, ref, known, lastHere);
  const listed = onList(known, rule);
  if (lost && !listed) {
    const { token, searchAfter, ...anew } = intentOf(attempt, lost.at, context);
    const { sought = anew, isSuspicion, why } = lost;
    const intent = { ...sought, token, searchAfter, isSuspicion, searches: 0 };
    return await searchBeforeAsking(journey, { intent, ...testOf(to) }, why, context);
  }
  const now = clock.now();
  const out = listed ?? tooOld(journey, rule, campaign, now);
  if (out) return await endJourney(journey, out, context);
  const hits = hitsOfLast(lastCounted(known, last), scopes, now);
  const held = hits.length > 0 ? await holdBack(attempt, hits, now, context) : undefined;
  if (held) return held;
  // The process was suspended: the lock may have expired, the window may be closed, or the record may have changed.
  if (context.ports.now() > sendDeadline || performance.now() - begunAt > context.callMs + staleMs)
    return { do: 'wait', delayMs: 0 };
  return await storeIntentAndSend(attempt, context);
}

/**
 * The guard before a call about the journey's person: ends the journey where the person was erased, or is about to be. The contact stays
 * until the erasure begins, as the erasure uses it to find more data of the person.
 * @param takeBack given for a journey that is creating its request: an erasure leaves such a journey to its worker
 */
async function endForErasure(journey: Journey, context: AskContext, takeBack?: TakeBack): Promise<boolean> {
  const erasure = await erasureSince(journey, context);
  if (erasure === undefined) return false;
  const why = 'its person is to be erased';
  await takeBack?.(why);
  if (erasure === 'begun') await eraseIfForgotten(journey, context);
  else await endJourney(journey, { why }, context);
  return true;
}

/** Why the record's customer is not asked again, if so: another journey of the record may have asked since the decision. */
async function askedSince(
  journey: Journey,
  rule: CampaignRule,
  { store, name }: AskContext,
): Promise<Skip | undefined> {
  const { id: journeyId, recordId, closedAt } = journey;
  return askedAlready(rule, { journeyId, closedAt, history: await store.records.historyOf(recordId) }, name);
}

/** The real time in which a request can still be sent before the window closes. The end of the window is excluded. */
function openForMs(until: Date | undefined, clock: AskContext['clock']): number {
  return until === undefined ? Number.POSITIVE_INFINITY : clock.until(until) - 1;
}

/** The field of the journey that says who is asked in the customer's place. */
function testOf({ contact, isTest }: Recipient): Pick<Journey, 'test'> {
  return { test: isTest ? { contact } : undefined };
}

/** The intent that is stored before anything is sent. */
function intentOf({ journey, campaign, known }: Attempt, at: Date, context: AskContext): Intent {
  return {
    token: randomUUID(),
    at,
    campaign: campaign.id,
    ...(hasMarker(campaign, context.marker) ? { marker: { field: context.marker, value: markOf(journey) } } : {}),
    numAppeals: known?.num_appeals ?? 0,
    lastAppeal: known?.last_appeal ?? null,
    searchAfter: new Date(context.clock.now().getTime() + context.searchAfterMs + context.callMs + staleMs),
  };
}

/** The contact's note of this attempt, stored before anything is sent. */
function noteOf({ journey, campaign, known, last }: Attempt, at: Date, context: AskContext): LastAsked {
  const delayMs = context.serviceAddsDelay ? (campaign.send_delay ?? 0) * 60_000 : 0;
  const scheduled = delayMs > 0 ? { scheduled: new Date(at.getTime() + delayMs) } : {};
  const before = lastCounted(known, last);
  return { at, journey: markOf(journey), ...scheduled, ...(before && asEarlier(before)) };
}

/**
 * Reserves the request with the contact's note, stores the journey's intent for a worker that takes over after a crash, and then
 * sends. A dry run ends before the request is sent.
 */
async function storeIntentAndSend(attempt: Attempt, context: AskContext): Promise<JobResult | Rest> {
  const { campaign, to, last, scopes } = attempt;
  const { contacts, clock } = context;
  const key = contactKey(to.contact);
  const at = clock.now();
  const note = noteOf(attempt, at, context);
  const held = await contacts.reserve({ contactKey: key, campaign: campaign.id, note, limits: limitsOf(scopes, at) });
  const no = held.length > 0 ? await holdBack(attempt, hitsOf(held, scopes, last), at, context) : undefined;
  if (no) return no;
  // The note of an earlier request must not come back once its person is erased.
  const takeNoteBack = async () => {
    const isErased = (await erasureSince(attempt.journey, context)) === 'begun';
    await contacts.takeBack(key, note, isErased ? undefined : last);
  };
  const intent = intentOf(attempt, at, context);
  const creating = await storeIntent(attempt, intent, context);
  if (creating?.intent?.token !== intent.token) return await leaveTo(creating, attempt, takeNoteBack, context);
  if (creating.state === 'withheld') return done;
  const takeBack: TakeBack = async (why, change) => {
    await takeNoteBack();
    await backToWaiting(creating, why, context, { counts: false, change });
  };
  if (!(await isStored(creating, takeBack, context))) return done;
  // This check comes last: the journey is stored by now, so an erasure that is requested after the check finds the journey.
  if (await endForErasure(creating, context, takeBack)) return done;
  return await send(attempt, { creating, intent, takeBack }, context);
}

/** Stores the journey with its intent. Returns the stored journey, which lacks this intent where another worker has changed the journey. */
async function storeIntent(attempt: Attempt, intent: Intent, context: AskContext): Promise<Journey | undefined> {
  const { journey, to } = attempt;
  const creates = ifStill('waiting', {
    to: context.dryRun ? 'withheld' : 'creating',
    at: intent.at,
    change: (now) => ({
      intent,
      ...testOf(to),
      attempts: (now.attempts ?? 0) + 1,
      ...(context.dryRun && { askedAt: intent.at }),
    }),
    trace: [attemptInWords(to, context)],
    when: (now) => isAsDecided(now, attempt),
  });
  return await context.store.update(journey, creates);
}

/**
 * Another worker, or an event, has changed the journey, and continues it; or the journey has ended without asking. The contact's
 * note is taken back unless another worker's attempt needs the note.
 */
async function leaveTo(
  after: Journey | undefined,
  { journey }: Attempt,
  takeNoteBack: () => Promise<void>,
  { caps }: AskContext,
): Promise<JobResult> {
  if (!after || !askedStates.includes(after.state)) await takeNoteBack();
  // The slot was taken after the journey had ended.
  if (after && endedUnasked(after)) await caps.giveBack(markOf(journey));
  return after?.state === 'waiting' ? { do: 'wait', delayMs: 0 } : done;
}

/** Waits until a failover would not lose the intent. @returns false where another worker has the journey by then */
async function isStored(creating: Journey, takeBack: TakeBack, { store, replicated }: AskContext): Promise<boolean> {
  const waiting = replicated();
  if (waiting === undefined) return true;
  try {
    await waiting;
  } catch (error) {
    await takeBack(`nothing was sent: ${messageOf(error)}`);
    throw error;
  }
  // Checked in Redis, not by the clock: this machine may have been suspended while another worker continued the journey. Where there was no
  // wait, Redis' reply that the intent is saved is enough.
  return (await store.isCurrent(creating)) || (await store.get(creating.id))?.intent?.token === creating.intent?.token;
}

/** Whether the stored journey still has what this decision set. A worker with another configuration may have decided since. */
function isAsDecided(now: Journey, { rule, campaign, decision: { verdict } }: Attempt): boolean {
  return (
    now.rule === rule.name &&
    now.campaign === campaign.id &&
    now.contact !== undefined &&
    contactKey(now.contact) === contactKey(verdict.contact) &&
    isDeepStrictEqual({ ...now.values }, { ...verdict.values })
  );
}

/** Undoes an attempt that asked nobody: the journey waits again, with this change, and its contact's note is as before. */
type TakeBack = (why: string, change?: Partial<Journey>) => Promise<void>;

function attemptInWords({ isTest }: Recipient, { dryRun }: Pick<AskContext, 'dryRun'>): string {
  const whom = isTest ? 'TEST: ' : '';
  if (dryRun) return `${whom}withheld: a dry run sends nothing; the feedback request would be created now`;
  return isTest ? `${whom}creating a feedback request to the test contact` : 'creating the feedback request';
}

/** Sends the request. The service's acceptance is saved after the slot for its calls is free, so that another journey can ask meanwhile. */
async function send(
  attempt: Attempt,
  { creating, intent, takeBack }: { creating: Journey; intent: Intent; takeBack: TakeBack },
  context: AskContext,
): Promise<JobResult | Rest> {
  const { rule, campaign } = attempt;
  try {
    const { id } = await sendRequest(attempt, creating.values, intent, context);
    return async () => {
      const result = await markAsked(creating, id, 'the service took it', context);
      await context.holds.lift('ask', askNeedsOf(rule));
      return result;
    };
  } catch (error) {
    if (outcomeOfError(error) === 'unknown') return await searchLater(creating, error, context);
    const why = `the service did not take it: ${messageOf(error)}`;
    // The campaign may have changed since it was read: closeloop decides about the journey by the new campaign, once.
    const isOnce = !creating.remapped && isAboutValues(error, campaign);
    await takeBack(why, isOnce ? { remapped: true } : {});
    if (isOnce) {
      context.campaigns.drop(campaign.id);
      return { do: 'wait', delayMs: 0 };
    }
    throw await faultOf(error, rule, context);
  }
}

/**
 * Creates a feedback request. No other function of the pipeline does this. In test mode this function replaces the customer's contact by the
 * test contact, so that no request goes to the customer.
 */
async function sendRequest(
  { journey, rule, campaign, sendDeadline }: Attempt,
  values: Journey['values'],
  { at: scheduled, marker }: Intent,
  { feedback }: AskContext,
): Promise<FeedbackRequest> {
  const { contact } = recipientOf(journey.contact, rule, campaign.type);
  const customFields = {
    ...values,
    ...(marker && { [marker.field]: marker.value }),
    ...(rule.test && testMark(rule.test, campaign)),
  };
  return await feedback.create({ campaign: campaign.id, contact, scheduled, customFields }, { sendDeadline });
}

/** Whether the campaign has the marker field: it holds the journey's reference, by which a lost request is found. */
function hasMarker(campaign: Campaign, marker: string): boolean {
  return campaign.custom_fields.some(({ name, field_type }) => name === marker && field_type === 'Text');
}
