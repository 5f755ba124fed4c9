import { adviceOf, messageOf } from '../../../core/errors.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import { truth } from '../../../core/mapping/expression.ts';

import { redacted } from '../../../core/redaction.ts';
import { FollowUpParams, ReceiverNames } from '../../config/answer-rule.ts';
import type { Act, FollowUp, Journey } from '../../journey/journey.ts';
import { currentRecordOf, refOf } from '../../journey/refs.ts';
import { erasureSince, removeLateAnswer } from '../erasure-guard.ts';
import { type ActJob, done, type JobResult } from '../jobs.ts';
import type { Service } from '../open-service.ts';
import { answerShape, type LoadedAnswerRule } from '../policy/answer-rules.ts';
import type { Policy } from '../policy/source-policy.ts';
import type { Journeys } from '../source-store.ts';
import { isFresh, type Reading } from '../vendor.ts';
import { actAtVendor, park, type Step, type VendorActContext } from './at-vendor.ts';
import { dueRules, judged, type News, noted, openActs, type Verdict } from './judge.ts';

/** The parts of a source that acting needs. */
export interface ActContext
  extends VendorActContext,
    Pick<Journeys, 'followUps'>,
    Pick<Policy, 'answerRules'>,
    Pick<Service, 'feedback'> {}

/** States in which there is an answer that counts. */
const answeredStates: readonly Journey['state'][] = ['answered', 'written', 'parked', 'failed', 'tested'];

/**
 * Does what the answer rules say about a journey's answer, once it has settled. A job judges only by the newest version, as each version has a
 * job of its own; what an earlier version has led to is done all the same.
 */
export async function act({ journeyId }: ActJob, given: ActContext): Promise<JobResult> {
  const context = { ...given, read: sharedReading(given) };
  const journey = await context.store.get(journeyId);
  if (journey?.erasedAt) return await removeLateNote(journey, context);
  if (journey?.answer === undefined || !answeredStates.includes(journey.state)) return done;
  const { due, nextInMs } = dueRules(context.answerRules, journey, context.clock.now());
  const judgement = due.length === 0 ? journey : await judge(journey, due, context);
  const waits: number[] = nextInMs === undefined ? [] : [nextInMs];
  if (judgement === 'corrected') waits.push(context.searchAfterMs);
  const after = judgement === 'corrected' ? journey : judgement;
  if (after) waits.push(...(await perform(after, context)));
  return waits.length === 0 ? done : { do: 'wait', delayMs: Math.min(...waits) };
}

/** An action that was under way during an erasure may have put the customer's words on the record after the erasure had cleared it. */
async function removeLateNote(journey: Journey, context: ActContext): Promise<JobResult> {
  const isUnderWay = journey.acting?.acts.some(({ state }) => state === 'begun');
  return isUnderWay ? await removeLateAnswer(journey, context) : done;
}

/** The rules and actions of one job share a reading while it is fresh; what an action changes, its connector reads itself. */
function sharedReading({ read }: Pick<ActContext, 'read'>): ActContext['read'] {
  let last: { id: string; reading: Reading } | undefined;
  return async (id, ...about) => {
    if (last?.id !== id || !isFresh(last.reading)) last = { id, reading: await read(id, ...about) };
    return last.reading;
  };
}

/**
 * The journey with what these rules say of its answer. One that leads to actions is read once more first: the customer may have corrected it
 * while nothing was collected.
 */
async function judge(journey: Journey, rules: readonly LoadedAnswerRule[], context: ActContext) {
  const answer = answerShape(journey);
  const version = journey.answer?.version;
  if (answer === undefined || version === undefined) return journey;
  const readsRecord = rules.some(({ when }) => when?.reads.some(([root]) => root !== 'answer'));
  const reading = readsRecord ? await context.read(currentRecordOf(journey), 'act', journey.closedAt) : undefined;
  const input = { ...reading?.record?.shape, answer };
  const verdicts = await Promise.all(
    rules.map(async (rule): Promise<Verdict> => ({ rule, ...(await matches(rule, input)) })),
  );
  for (const { rule, flaw } of verdicts) if (flaw !== undefined) await tellFlaw(rule, flaw, journey, context);
  const leadsOn = verdicts.some(({ rule: { settle }, matches }) => matches && settle > 0);
  if (leadsOn && (await isCorrected(journey, context))) return 'corrected';
  return await context.store.update(journey, judged(verdicts, version, context.clock.now()));
}

/** Whether the service holds another answer by now. Collecting will bring it, as a version that is judged in its turn. */
async function isCorrected({ requestId, answer }: Journey, { feedback }: ActContext): Promise<boolean> {
  if (requestId === undefined || answer === undefined) return false;
  const now = await feedback.request(requestId).catch((error: unknown) => {
    // The service no longer has it, or does not show it: what was collected holds.
    if (error instanceof FeedbackError && error.advice.kind === 'permanent') return undefined;
    throw error;
  });
  if (now === undefined || (now.grade === null && now.comment === null)) return false;
  return now.grade !== answer.grade || (now.comment || null) !== answer.comment;
}

/** A condition that fails on this answer, or record, keeps no other rule from being judged. */
async function matches({ when }: LoadedAnswerRule, input: object): Promise<Omit<Verdict, 'rule'>> {
  if (when === undefined) return { matches: true };
  try {
    return { matches: truth(await when.evaluate(input)) === true };
  } catch (error) {
    if (adviceOf(error).kind !== 'permanent') throw error;
    return { matches: false, flaw: redacted(messageOf(error)) };
  }
}

async function tellFlaw({ name }: LoadedAnswerRule, why: string, { id }: Journey, { alert, ...of }: ActContext) {
  const remedy = 'correct its condition, and see to these answers yourself';
  await alert('to-do', `the answer rule "${name}" could not be judged: ${why}`, remedy, [refOf(of.name, id)]);
}

/** Does what is still to be done. @returns how long actions that can't be done yet have to wait. Real time. */
async function perform(journey: Journey, context: ActContext): Promise<number[]> {
  const { steps, unsaid } = stepsOf(openActs(journey), context.answerRules);
  await park(unsaid, 'the answer rule no longer says so', journey, context);
  const own = steps.filter((step) => isFollowUp(step) || isTelling(step));
  if (own.length > 0) {
    if ((await erasureSince(journey, context)) !== undefined) return [];
    for (const { act, params } of own.filter(isFollowUp)) await openFollowUp(act, params, journey, context);
    await tell(own.filter(isTelling), journey, context);
  }
  const others = steps.filter((step) => !own.includes(step));
  return await actAtVendor(others, journey, context);
}

const isFollowUp = ({ act }: Step): boolean => act.name === 'followUp';

/** `unsaid`: actions of which the configuration says nothing any more. */
function stepsOf(acts: readonly Act[], rules: readonly LoadedAnswerRule[]): { steps: Step[]; unsaid: Act[] } {
  const [steps, unsaid]: [Step[], Act[]] = [[], []];
  for (const act of acts) {
    const says = rules.find(({ name }) => name === act.rule)?.do[act.step];
    if (says?.name === act.name) steps.push({ ...says, act });
    else unsaid.push(act);
  }
  return { steps, unsaid };
}

/** The follow-up is stored in the journey, so that it is opened once, and taken by one person. */
async function openFollowUp(one: Act, params: unknown, { id, answer }: Journey, context: ActContext): Promise<void> {
  const { to, due } = FollowUpParams.parse(params);
  const openedAt = context.clock.now();
  const dueAt = new Date((answer?.seenAt ?? openedAt).getTime() + due);
  const followUp: FollowUp = { state: 'open', rule: one.rule, to, openedAt, dueAt };
  const line = `answer rule "${one.rule}": follow-up for ${to}, due ${dueAt.toISOString()}`;
  // In the list first: what the journey does not confirm is taken out again by whoever reads the list.
  await context.followUps.put('open', id, dueAt);
  const news: News = { marker: one.marker, change: { state: 'done', at: openedAt }, trace: line };
  const decide = noted([news], (now) => (isOpen(now) ? {} : { followUp }));
  const after = await context.store.update(id, decide);
  // One that was open before stays as it is, with its own time.
  if (after?.followUp?.dueAt.getTime() !== dueAt.getTime()) await context.followUps.relist(id, context.store);
}

const isTelling = ({ act }: Step): boolean => act.name === 'notify' || act.name === 'send';

/** What is to be told is stored with this step of the journey, once, and sent by a queue of each receiver. */
async function tell(steps: readonly Step[], { id }: Journey, { store, ports }: ActContext): Promise<void> {
  const news = steps.map(({ act: { marker, rule }, params }): News => {
    const to = ReceiverNames.parse(params);
    const line = `answer rule "${rule}": ${to.join(', ')} ${to.length === 1 ? 'is' : 'are'} told of the answer`;
    return { marker, change: { state: 'done', at: ports.now(), to }, trace: line };
  });
  if (news.length > 0) await store.update(id, noted(news));
}

const isOpen = ({ followUp }: Journey): boolean => followUp !== undefined && followUp.state !== 'done';

/** A job that failed for too long: what it had to do is in the journey, and a replay does it. */
export async function giveUpAct({ journeyId }: ActJob, why: string, context: ActContext): Promise<void> {
  const journey = await context.store.get(journeyId);
  if (journey === undefined) return;
  await park(openActs(journey), redacted(why), journey, context);
}
