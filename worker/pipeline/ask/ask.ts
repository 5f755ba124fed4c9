import { campaignFor } from '../../config/campaign-choice.ts';
import type { Journey } from '../../journey/journey.ts';
import { firstOf, ifStill } from '../../journey/transitions.ts';
import { type AskJob, done, type JobResult } from '../jobs.ts';
import { campaignOf } from '../policy/decide.ts';
import { type CampaignRule, inCampaign } from '../rules.ts';
import type { Reading } from '../vendor.ts';
import { giveBack, queueIfBack, queueRemaining } from '../withdraw.ts';
import type { AskContext } from './ask-steps.ts';
import { askBy, hasContact, passOnce, turnOf } from './create.ts';
import { decideAgain } from './decide-again.ts';
import { endJourney, wait } from './not-asked.ts';
import { resolveUnknown } from './unknown-outcome.ts';

/**
 * Asks the customer, once. The journey goes waiting → creating (the intent is stored) → asked. A worker that finds a journey in
 * `creating` does not know whether the service got the request, and searches for it first.
 */
export async function ask({ journeyId }: AskJob, context: AskContext): Promise<JobResult> {
  const journey = await context.store.get(journeyId);
  return journey ? await askAbout(journey, context) : done;
}

/**
 * Asks about a stored journey that is due: reads its record, and decides again.
 * @param journey as read or saved last: whether another worker has changed the journey since shows when a change is saved
 */
export async function askAbout(journey: Journey, context: AskContext): Promise<JobResult> {
  if (journey.state === 'creating') return await resolveUnknown(journey, context);
  if (journey.state !== 'waiting') return done;
  const { dueAt } = journey;
  if (dueAt && dueAt > context.clock.now()) return { do: 'wait', delayMs: context.clock.until(dueAt) };

  const pass = passOnce(context);
  const held = await heldAsPlanned(journey, pass, context);
  if (held) return held;
  const reading = await context.read(journey.recordId, 'ask', journey.closedAt);
  if (reading.is === 'open') return await endJourney(journey, { why: 'the record is open again' }, context);
  if (reading.is === 'out') return await endOut(journey, reading.why, context);
  const gone = await whyNotThisClosing(journey, reading, context);
  if (gone !== undefined) return await endJourney(journey, { why: gone }, context);
  const again = await decideAgain(journey, reading, pass, context);
  return again.do === 'ask' ? await askBy(again.decision, again.journey, context, pass) : again.result;
}

/** Lets a journey that still has to wait by its earlier decision wait, without reading its record again. */
async function heldAsPlanned(
  journey: Journey,
  pass: (rule: CampaignRule) => Promise<void>,
  context: AskContext,
): Promise<JobResult | undefined> {
  const rule = ruleOf(journey, context);
  if (!rule || !hasContact(journey)) return undefined;
  await pass(rule);
  const turn = await turnOf(journey, rule, await campaignOf(rule, context), context);
  // Before a journey ends, closeloop decides about it again.
  return turn.do === 'ask' || turn.do === 'skip' ? undefined : await wait(journey, turn, context);
}

/** The rule by which the journey was planned, unless the rule was removed, or asks in another campaign by now. */
function ruleOf(
  { rule: name, campaign, locale }: Journey,
  { rules }: Pick<AskContext, 'rules'>,
): CampaignRule | undefined {
  const rule = rules.find((one) => one.name === name);
  if (!rule || campaign === undefined) return undefined;
  return campaignFor(rule.campaign, locale)?.campaign === campaign ? inCampaign(rule, campaign) : undefined;
}

/** Why a closed record no longer has the closing of this journey, if so. */
async function whyNotThisClosing(
  journey: Journey,
  { record, closing, closedAt }: Extract<Reading, { is: 'closed' }>,
  context: AskContext,
): Promise<string | undefined> {
  const { recordId } = journey;
  if (record.currentId !== recordId) {
    await context.store.records.merge(recordId, record.currentId);
    await queueRemaining(recordId, record.currentId, closedAt, context);
    return `the record was merged into ${record.currentId}`;
  }
  if (closing === journey.closing) return undefined;
  // The new closing's webhook may have been missed; if it was not, planning finds the closing's journey and does nothing.
  await context.queueEvent({
    kind: 'closed',
    recordId,
    at: closedAt,
    key: `seen when asking:${recordId}:${closing}`,
    what: 'found closed again when its customer was to be asked',
    receivedAt: new Date(),
  });
  return 'the record was reopened and closed again since: the new closing has a journey of its own';
}

/** Ends a journey about whose record closeloop can't ask now. */
async function endOut(journey: Journey, why: string, context: AskContext): Promise<JobResult> {
  const result = await endJourney(journey, { why }, context, { change: { wasOut: true } });
  await queueIfBack(journey.recordId, `back:${journey.id}:${context.clock.now().toISOString()}`, context);
  return result;
}

/** The job failed for good. The request of a journey in `creating` may have reached the customer: a person has to decide. */
export async function giveUpAsk({ journeyId }: AskJob, why: string, context: AskContext) {
  const at = context.clock.now();
  const unknown = `it is not known whether the service got the request: ${why}`;
  const after = await context.store.update(
    journeyId,
    firstOf(ifStill('creating', { to: 'parked', at, why: unknown }), ifStill('waiting', { to: 'failed', at, why })),
  );
  if (after?.state === 'failed' && after.requestId === undefined) await giveBack(after, context);
}
