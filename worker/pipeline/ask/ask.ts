import { campaignFor } from '../../config/campaign-choice.ts';
import type { Journey } from '../../journey/journey.ts';
import { firstOf, ifStill } from '../../journey/transitions.ts';
import { planJourney } from '../decide-journey.ts';
import { type AskJob, done, type JobResult } from '../jobs.ts';
import { queueRemaining } from '../merged.ts';
import { createNeed, needsOf } from '../needs.ts';
import { askingTime, tooOld } from '../policy/asking-time.ts';
import { campaignOf } from '../policy/decide.ts';
import { recipientOf } from '../policy/recipient.ts';
import { type CampaignRule, inCampaign } from '../rules.ts';
import { giveBack, queueIfBack } from '../withdraw.ts';
import { type AskableJourney, type AskContext, endJourney, postpone, withContact } from './ask-steps.ts';
import { giveTurnBack, takeTurn } from './cap.ts';
import { create } from './create.ts';
import { type LaterClosing, laterClosing } from './throttle.ts';
import { resolveUnknown } from './unknown-outcome.ts';

/** The wait between two looks at the journey of a later closing that asks in place of this journey. Real time. */
const retryMs = 10_000;

/**
 * Asks the customer, once. The journey goes waiting → creating (the intent is stored) → asked. A worker that finds a journey in
 * `creating` does not know whether the service got the request, and searches for it first.
 */
export async function ask({ journeyId }: AskJob, context: AskContext): Promise<JobResult> {
  const journey = await context.store.get(journeyId);
  return journey ? await askAbout(journey, context) : done;
}

/** @param journey as read or saved last: whether another worker has changed the journey since shows when a change is saved */
export async function askAbout(journey: Journey, context: AskContext): Promise<JobResult> {
  if (journey.state === 'creating') return await resolveUnknown(journey, context);
  if (journey.state !== 'waiting' && !(journey.state === 'received' && journey.rule !== undefined)) return done;

  const rule = journey.state === 'waiting' ? ruleOf(journey, context) : undefined;
  if (!rule || !hasContact(journey)) return await planAnew(journey, context);

  const needs = [...needsOf(rule), createNeed];
  await context.holds.pass('ask', needs);
  const campaign = await campaignOf(rule, context);
  // Not where an earlier attempt may have made a request: that is found out first.
  const old = journey.searched ? undefined : tooOld(journey, rule, campaign, context.clock.now());
  if (old) return await endJourney(journey, old, context);
  const time = askingTime(rule, campaign, journey, context);
  if (!time.ok) return await endJourney(journey, { reason: 'no-time', why: time.why }, context);
  if (time.at > context.clock.now()) return await postpone(journey, time, context);
  const later = await laterClosing(journey, rule, campaign, context);
  if (later) return await giveWay(journey, later, context);
  const turn = await takeTurn(journey, rule, campaign, context);
  if (turn.do === 'wait') return await postpone(journey, turn, context);
  if (turn.do === 'skip') return await endJourney(journey, turn, context);

  const gone = await recheck(journey, context);
  if (gone) return gone.isOut ? await endOut(journey, gone.why, context) : await endJourney(journey, gone, context);

  const to = recipientOf(journey.contact, rule, campaign.type);
  const wanted = { journey, rule, needs, campaign, to, until: time.until };
  return await withContact(to.isTest ? to : journey, context, (lastHere) => create(wanted, lastHere, context));
}

function hasContact(journey: Journey): journey is AskableJourney {
  return journey.contact !== undefined;
}

/** The journey waits until the later closing's journey has asked, or has come to nothing. */
async function giveWay(journey: Journey, { dueAt, why }: LaterClosing, context: AskContext): Promise<JobResult> {
  await giveTurnBack(journey, context);
  if (dueAt > context.clock.now()) return await postpone(journey, { at: dueAt, why: [why] }, context);
  return { do: 'wait', delayMs: retryMs };
}

/** The rule by which the journey was planned, unless it is gone, or asks in another campaign by now. */
function ruleOf(
  { rule: name, campaign, locale }: Journey,
  { rules }: Pick<AskContext, 'rules'>,
): CampaignRule | undefined {
  const rule = rules.find((one) => one.name === name);
  if (!rule || campaign === undefined) return undefined;
  return campaignFor(rule.campaign, locale)?.campaign === campaign ? inCampaign(rule, campaign) : undefined;
}

/** The job failed for good. A journey in `creating` may have reached the customer: that needs a person. */
export async function giveUpAsk({ journeyId }: AskJob, why: string, context: AskContext) {
  const at = context.clock.now();
  const unknown = `it is not known whether the service got the request: ${why}`;
  const after = await context.store.update(
    journeyId,
    firstOf(ifStill('creating', { to: 'parked', at, why: unknown }), ifStill('waiting', { to: 'failed', at, why })),
  );
  if (after?.state === 'failed' && after.requestId === undefined) await giveBack(after, context);
}

/** The rule was renamed, removed or given another campaign while the journey waited: the journey is planned again. */
async function planAnew(journey: Journey, context: AskContext): Promise<JobResult> {
  const status = await context.read(journey.recordId, 'plan');
  if (status.is === 'open') return await endJourney(journey, { why: 'the record is open again' }, context);
  if (status.is === 'out') return await endOut(journey, status.why, context);
  const received = await context.store.update(
    journey,
    ifStill('waiting', { to: 'received', at: context.clock.now(), trace: ['its rule changed: planned anew'] }),
  );
  if (received?.state !== 'received') return done;
  const anew = await planJourney(received, status.record, context);
  return anew?.state === 'waiting' && anew.dueAt ? { do: 'wait', delayMs: context.clock.until(anew.dueAt) } : done;
}

/** Ends a journey whose record is out of question. */
async function endOut(journey: Journey, why: string, context: AskContext): Promise<JobResult> {
  const result = await endJourney(journey, { why }, context, { isOut: true });
  await queueIfBack(journey.recordId, `back:${journey.id}:${context.clock.now().toISOString()}`, context);
  return result;
}

/** Why the customer should no longer be asked, if so. */
async function recheck(journey: Journey, context: AskContext): Promise<{ why: string; isOut: boolean } | undefined> {
  const gone = (why: string) => ({ why, isOut: false });
  const status = await context.read(journey.recordId, 'ask');
  if (status.is === 'closed' && status.record.currentId !== journey.recordId) {
    const { currentId: remaining } = status.record;
    await context.store.records.merge(journey.recordId, remaining);
    await queueRemaining(journey.recordId, remaining, status.closedAt, context);
    return gone(`the record was merged into ${remaining}`);
  }
  if (status.is === 'open') return gone('the record is open again');
  if (status.is === 'out') return { why: status.why, isOut: true };
  // A reading without history has no name for the closing; that the record is closed has to suffice.
  if (status.closing === '' || status.closing === journey.closing) return undefined;
  // The new closing's webhook may have been missed; if not, its journey is found and nothing happens.
  await context.queueEvent({
    kind: 'closed',
    recordId: journey.recordId,
    at: status.closedAt,
    key: `seen when asking:${journey.recordId}:${status.closing}`,
    what: 'found closed again when its customer was to be asked',
    receivedAt: new Date(),
  });
  return gone('the record was reopened and closed again since: the new closing has a journey of its own');
}
