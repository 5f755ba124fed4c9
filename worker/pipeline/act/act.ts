import type { ActionResult } from '../../../core/connector/contract.ts';
import { CloseloopError, messageOf, outcomeOfError } from '../../../core/errors.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import { truth } from '../../../core/mapping/expression-truth.ts';
import type { Ports } from '../../../core/ports.ts';
import { redacted } from '../../../core/redaction.ts';
import { FollowUpParams } from '../../config/answer-rule.ts';
import type { Act, FollowUp, Journey } from '../../journey/journey.ts';
import { currentRecordOf, refOf } from '../../journey/refs.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import type { Clock } from '../clock.ts';
import { erasureSince, type GuardContext } from '../erasure-guard.ts';
import { type ActJob, done, type JobResult } from '../jobs.ts';
import type { Service } from '../open-service.ts';
import { answerShape, type LoadedAnswerRule } from '../policy/answer-rules.ts';
import type { Policy } from '../policy/source-policy.ts';
import type { Journeys } from '../source-store.ts';
import { isFresh, type Reading, type Vendor } from '../vendor.ts';
import { begun, dueRules, judged, noted, openActs, type Verdict } from './judge.ts';

/** What acting takes of a source. */
export interface ActContext
  extends Pick<Journeys, 'store' | 'actions' | 'followUps'>,
    Pick<GuardContext, 'erasures'>,
    Pick<Vendor, 'source' | 'read'>,
    Pick<Policy, 'searchAfterMs' | 'policy' | 'answerRules'>,
    Pick<Service, 'feedback'> {
  name: string;
  clock: Clock;
  ports: Ports;
  alert: AlertOfSource;
}

/** States in which there is an answer that counts. */
const answeredStates: readonly Journey['state'][] = ['answered', 'written', 'parked', 'failed', 'tested'];

/**
 * Does what the answer rules say about a journey's answer, once it has settled. A job judges only by the newest version, as each version has a
 * job of its own; what an earlier version has led to is done all the same.
 */
export async function act({ journeyId }: ActJob, given: ActContext): Promise<JobResult> {
  const context = { ...given, read: sharedReading(given) };
  const journey = await context.store.get(journeyId);
  if (journey?.answer === undefined || journey.erasedAt || !answeredStates.includes(journey.state)) return done;
  const { due, nextInMs } = dueRules(context.answerRules, journey, context.clock.now());
  const judgement = due.length === 0 ? journey : await judge(journey, due, context);
  const waits: number[] = nextInMs === undefined ? [] : [nextInMs];
  if (judgement === 'corrected') waits.push(context.searchAfterMs);
  const after = judgement === 'corrected' ? journey : judgement;
  for (const { marker } of after ? openActs(after) : []) {
    const waitMs = await perform(marker, journeyId, context);
    if (waitMs > 0) waits.push(waitMs);
  }
  return waits.length === 0 ? done : { do: 'wait', delayMs: Math.min(...waits) };
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
    rules.map(async (rule): Promise<Verdict> => ({ rule, matches: await matches(rule, input) })),
  );
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

async function matches({ when }: LoadedAnswerRule, input: object): Promise<boolean> {
  return when === undefined || truth(await when.evaluate(input)) === true;
}

/** @returns how long the action has to wait; 0 once it is over. Real time. */
async function perform(marker: string, journeyId: string, context: ActContext): Promise<number> {
  const { store, ports, answerRules } = context;
  const journey = await store.get(journeyId);
  // As it is now: another process may have begun it.
  const one = journey && openActs(journey).find((act) => act.marker === marker);
  if (journey === undefined || one === undefined) return 0;
  if ((await erasureSince(journey, context)) !== undefined) return 0;
  const step = answerRules.find(({ name }) => name === one.rule)?.do[one.step];
  if (step?.name !== one.name) return await park(one, 'the answer rule no longer says so', journey, context);
  if (one.name === 'followUp') return await openFollowUp(one, step.params, journey, context);
  // Another process may be at it, or the vendor may still carry it out.
  const sinceMs = ports.now().getTime() - one.at.getTime();
  if (one.state === 'begun' && sinceMs < context.searchAfterMs) return context.searchAfterMs - sinceMs;
  return await actAtVendor(one, step, journey, context);
}

async function actAtVendor(
  one: Act,
  { params, text }: LoadedAnswerRule['do'][number],
  journey: Journey,
  context: ActContext,
): Promise<number> {
  const { store, ports, policy, actions, source } = context;
  const recordId = currentRecordOf(journey);
  if (!(await actions.take(recordId, one.marker, policy.actions.perRecord, ports.now())))
    return await park(
      one,
      `more than ${policy.actions.perRecord} actions on this record within a day`,
      journey,
      context,
    );
  const reading = await context.read(recordId, 'act', journey.closedAt);
  if (reading.record === undefined) return await park(one, 'the record is gone', journey, context);
  const closing = one.closing ?? (reading.is === 'closed' ? reading.closing : '');
  const given =
    text === undefined ? params : await text.evaluate({ ...reading.record.shape, answer: answerShape(journey) });
  // Stored first: whoever finds it begun knows that the vendor may have done it.
  if (!(await begin(one, closing, journey, context))) return context.searchAfterMs;
  const request = {
    recordId,
    name: one.name,
    params: given,
    marker: one.marker,
    closing,
    again: one.state === 'begun',
  };
  try {
    const result = await source.act?.(request);
    return result === undefined
      ? await park(one, 'its connector can not do this', journey, context)
      : await takeResult(one, result, journey, context);
  } catch (error) {
    // It was not done: the next attempt need not wait, nor look for it.
    if (outcomeOfError(error) !== 'unknown')
      await store.update(journey.id, noted(one, { state: one.state, at: one.at }));
    throw error;
  }
}

/** Whether it is this process that has begun it. */
async function begin(one: Act, closing: string, { id }: Journey, { store, ports }: ActContext): Promise<boolean> {
  const decide = begun(one, ports.now(), closing);
  let isOurs = false;
  await store.update(id, (now) => {
    const decision = decide(now);
    isOurs = decision !== undefined;
    return decision;
  });
  return isOurs;
}

async function takeResult(one: Act, result: ActionResult, journey: Journey, context: ActContext): Promise<number> {
  if (result.ok) {
    await finish(one, result.done, journey, context);
    return 0;
  }
  if (result.why !== 'error') return await park(one, redacted(result.message), journey, context);
  const { error } = result;
  if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
  return await park(one, redacted(messageOf(error)), journey, context);
}

async function finish(one: Act, what: string, { id }: Journey, { store, ports }: ActContext): Promise<void> {
  await store.update(id, noted(one, { state: 'done', at: ports.now() }, [`answer rule "${one.rule}": ${what}`]));
}

async function park(one: Act, why: string, { id }: Journey, context: ActContext): Promise<0> {
  const { name, store, ports, alert } = context;
  const line = `answer rule "${one.rule}": ${one.name} is parked: ${why}`;
  const after = await store.update(id, noted(one, { state: 'parked', at: ports.now(), why }, [line]));
  if (after) {
    const remedy = 'do it by hand, or mend the cause and "closeloop journeys replay" the journey';
    await alert('parked', `an action for an answer was not done: ${one.name}: ${why}`, remedy, [refOf(name, id)]);
  }
  return 0;
}

/** The follow-up is stored in the journey, so that it is opened once, and taken by one person. */
async function openFollowUp(one: Act, params: unknown, { id, answer }: Journey, context: ActContext): Promise<0> {
  const { to, due } = FollowUpParams.parse(params);
  const openedAt = context.clock.now();
  const dueAt = new Date((answer?.seenAt ?? openedAt).getTime() + due);
  const followUp: FollowUp = { state: 'open', rule: one.rule, to, openedAt, dueAt };
  const line = `answer rule "${one.rule}": follow-up for ${to}, due ${dueAt.toISOString()}`;
  // In the list first: what the journey does not confirm is taken out again by whoever reads the list.
  await context.followUps.put('open', id, dueAt);
  const decide = noted(one, { state: 'done', at: openedAt }, [line], (now) => (isOpen(now) ? {} : { followUp }));
  const after = await context.store.update(id, decide);
  // One that was open before stays as it is, with its own time.
  if (after?.followUp?.dueAt.getTime() !== dueAt.getTime()) await context.followUps.relist(id, context.store);
  return 0;
}

const isOpen = ({ followUp }: Journey): boolean => followUp !== undefined && followUp.state !== 'done';

/** A job that failed for too long: what it had to do is in the journey, and a replay does it. */
export async function giveUpAct({ journeyId }: ActJob, why: string, context: ActContext): Promise<void> {
  const journey = await context.store.get(journeyId);
  if (journey === undefined) return;
  for (const one of openActs(journey)) await park(one, redacted(why), journey, context);
}
