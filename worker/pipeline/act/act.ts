import type { ActionRequest } from '../../../core/connector/contract.ts';
import { adviceOf, messageOf } from '../../../core/errors.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import { truth } from '../../../core/mapping/expression.ts';

import { redacted } from '../../../core/redaction.ts';
import { FollowUpParams, ReceiverNames } from '../../config/answer-rule.ts';
import type { Act, Journey } from '../../journey/journey.ts';
import { currentRecordOf, refOf } from '../../journey/refs.ts';
import { erasureSince, removeLateAnswer } from '../erasure-guard.ts';
import { type ActJob, done, type JobResult } from '../jobs.ts';
import type { Service } from '../open-service.ts';
import { answerShape, type LoadedAnswerRule, readsRecord } from '../policy/answer-rules.ts';
import type { Policy } from '../policy/source-policy.ts';
import { isBeingWritten } from '../queue-acts.ts';
import type { Journeys } from '../source-store.ts';
import { isFresh, type Reading } from '../vendor.ts';
import { doAtVendor, nothing, planAtVendor, type Step, tellParked, type VendorActContext } from './at-vendor.ts';
import {
  type Decide,
  dueRules,
  inOneChange,
  judged,
  type News,
  noted,
  openActs,
  parking,
  unchanged,
  type Verdict,
} from './judge.ts';

/** The parts of a source that acting needs. */
export interface ActContext
  extends VendorActContext,
    Pick<Journeys, 'followUps'>,
    Pick<Policy, 'answerRules'>,
    Pick<Service, 'feedback'> {
  /** Whether the acting stage is stopped. Left out: the acting stage itself acts. */
  isActingStopped?: () => Promise<boolean>;
}

/** States in which there is an answer that counts. */
const answeredStates: readonly Journey['state'][] = ['answered', 'written', 'parked', 'failed', 'tested'];

/**
 * Does what the answer rules say about a journey's answer, once it has settled. A job judges only by the newest version, as each version has a
 * job of its own; what an earlier version has led to is done all the same.
 */
export async function act({ journeyId }: Pick<ActJob, 'journeyId'>, context: ActContext): Promise<JobResult> {
  const journey = await context.store.get(journeyId);
  if (journey?.erasedAt) return await removeLateNote(journey, context);
  if (journey?.answer === undefined || !answeredStates.includes(journey.state)) return done;
  const { waits } = await actOn(journey, () => undefined, context);
  return waits.length === 0 ? done : { do: 'wait', delayMs: Math.min(...waits) };
}

/** What acting has come to: the journey as it was stored before the vendor was called, and how long what is left has to wait. Real time. */
interface Acted {
  after: Journey | undefined;
  waits: number[];
}

/** @param change stored together with what the rules say of the answer as the change leaves it */
export async function actOn(before: Journey, change: Decide, given: ActContext): Promise<Acted> {
  const context = { ...given, read: sharedReading(given) };
  const journey = change(before)?.journey ?? before;
  const now = context.clock.now();
  const { due, nextInMs } = dueRules(context.answerRules, journey, now);
  const verdicts = due.length === 0 ? [] : await judge(journey, due, context);
  const judging = judged(verdicts === 'corrected' ? [] : verdicts, journey.answer?.version ?? 0, now);
  const { after, waits } = await perform(before, inOneChange(change, judging), context);
  const later = verdicts === 'corrected' ? [context.searchAfterMs] : [];
  return { after, waits: [...waits, ...later, ...(nextInMs === undefined ? [] : [nextInMs])] };
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
 * What these rules say of the answer. An answer that leads to actions is read once more first: the customer may have corrected it while nothing
 * was collected.
 */
async function judge(journey: Journey, rules: readonly LoadedAnswerRule[], context: ActContext) {
  const answer = answerShape(journey);
  const reading = rules.some(({ when }) => when && readsRecord(when))
    ? await context.read(currentRecordOf(journey), 'act', journey.closedAt)
    : undefined;
  const input = { ...reading?.record?.shape, answer };
  const verdicts = await Promise.all(
    rules.map(async (rule): Promise<Verdict> => ({ rule, ...(await matches(rule, input)) })),
  );
  for (const { rule, flaw } of verdicts) if (flaw !== undefined) await tellFlaw(rule, flaw, journey, context);
  const leadsOn = verdicts.some(({ rule: { settle }, matches }) => matches && settle > 0);
  return leadsOn && (await isCorrected(journey, context)) ? 'corrected' : verdicts;
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

/**
 * Does what is still to be done. The change, what is done here, and what the vendor is about to do are stored at once, before the vendor is
 * called.
 */
async function perform(before: Journey, change: Decide, context: ActContext): Promise<Acted> {
  const changed = change(before);
  const journey = changed?.journey ?? before;
  const acts = openActs(journey);
  if (acts.length === 0 && changed === undefined) return { after: before, waits: [] };
  const { steps, unsaid } = stepsOf(acts, context.answerRules);
  const { vendor = [], ...own } = Object.groupBy(steps, kindOf);
  const planned = await planAtVendor(vendor, journey, context).catch((failure: unknown) => ({ ...nothing, failure }));
  // Looked at last, as reading the record may have taken its time.
  if ((await erasureSince(journey, context)) !== undefined)
    return { after: await context.store.update(before, change), waits: [] };
  const now = context.ports.now();
  const followUps = (own.followUp ?? []).map((step) => openedBy(step, journey, context.clock.now()));
  const news: News[] = [
    ...unsaid.map((one) => parking(one, 'the answer rule no longer says so', now)),
    ...followUps,
    ...(own.telling ?? []).map((step) => told(step, now)),
    ...planned.news,
  ];
  // Asked again, as reading the record may have taken its time.
  const requests = (await context.isActingStopped?.()) ? [] : planned.requests;
  const listed = followUps.length === 0 ? before : await list(followUps, before, change, context);
  const { begun, after } = await begin({ acts, change, news, requests }, listed, context);
  if (after === undefined || after.erasedAt) return { after, waits: [] };
  // An answer that has changed meanwhile was not judged.
  const stored = new Set(after.acting?.acts.map(({ marker }) => marker));
  const dropped = acts.map(({ marker }) => marker).filter((marker) => !stored.has(marker));
  await context.actions.giveBack(currentRecordOf(journey), dropped);
  // One that was open before stays as it is, with its own time.
  for (const { followUp } of followUps)
    if (after.followUp?.dueAt.getTime() !== followUp?.dueAt.getTime())
      await context.followUps.relist(after.id, context.store);
  await tellParked(news, after, context);
  if (begun.length > 0) await doAtVendor(begun, acts, after, context);
  if (planned.failure !== undefined) throw planned.failure;
  // Another process has begun some, or a person has taken up others again since.
  const known = new Set(acts.map(({ marker }) => marker));
  const isMore = openActs(after).some(({ marker }) => !known.has(marker));
  return { after, waits: isMore || begun.length < planned.requests.length ? [0] : planned.waits };
}

/** Follow-ups are in the list first: what the journey does not await or hold is taken out again by whoever reads the list. */
async function list(followUps: readonly News[], journey: Journey, change: Decide, context: ActContext) {
  const awaiting = change(journey) ? await context.store.update(journey, change) : journey;
  for (const { followUp } of followUps) if (followUp) await context.followUps.put('open', journey.id, followUp.dueAt);
  return awaiting ?? journey;
}

interface Beginning {
  /** The actions as they were read, or judged. */
  acts: readonly Act[];
  change: Decide;
  news: readonly News[];
  requests: readonly ActionRequest[];
}

/** Stores all that is known before the vendor is called. `begun`: what this process is to have done by the vendor. */
async function begin({ acts, change, news, requests }: Beginning, journey: Journey, context: ActContext) {
  const { store, ports, clock, settleMs } = context;
  const at = ports.now();
  let begun: readonly ActionRequest[] = [];
  const decide = inOneChange(change, (now) => {
    // Another process may have begun some since they were read, and a newer answer may be being written.
    const free = new Set(unchanged(acts, now).map(({ marker }) => marker));
    const isFree = ({ marker }: Pick<Act, 'marker'>) => free.has(marker);
    begun = isBeingWritten(now, settleMs, clock.now()) ? [] : requests.filter(isFree);
    const beginning = begun.map(
      ({ marker, name, closing }): News => ({ marker, name, change: { state: 'begun', at, closing } }),
    );
    return noted([...news.filter(isFree), ...beginning])(now);
  });
  const after = await store.update(journey, decide);
  return { begun, after };
}

const kindOf = ({ act: { name } }: Step) =>
  name === 'followUp' ? 'followUp' : name === 'notify' || name === 'send' ? 'telling' : 'vendor';

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
function openedBy({ act: { marker, name, rule }, params }: Step, { answer }: Journey, at: Date): News {
  const { to, due } = FollowUpParams.parse(params);
  const dueAt = new Date((answer?.seenAt ?? at).getTime() + due);
  const trace = `answer rule "${rule}": follow-up for ${to}, due ${dueAt.toISOString()}`;
  return {
    marker,
    name,
    change: { state: 'done', at },
    trace,
    followUp: { state: 'open', rule, to, openedAt: at, dueAt },
  };
}

/** What is to be told is stored with this step of the journey, once, and sent by a queue of each receiver. */
function told({ act: { marker, name, rule }, params }: Step, at: Date): News {
  const to = ReceiverNames.parse(params);
  const trace = `answer rule "${rule}": ${to.join(', ')} ${to.length === 1 ? 'is' : 'are'} told of the answer`;
  return { marker, name, change: { state: 'done', at, to }, trace };
}

/** A job that failed for too long: what it had to do is in the journey, and a replay does it. */
export async function giveUpAct(
  { journeyId }: Pick<ActJob, 'journeyId'>,
  why: string,
  context: ActContext,
): Promise<void> {
  const journey = await context.store.get(journeyId);
  if (journey === undefined) return;
  const parked = openActs(journey).map((one) => parking(one, redacted(why), context.ports.now()));
  const after = parked.length > 0 && (await context.store.update(journey, noted(parked)));
  if (after) await tellParked(parked, after, context);
}
