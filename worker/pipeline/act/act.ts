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
import { namesOf } from '../record-names.ts';
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
    Pick<Policy, 'answerRules' | 'parts'>,
    Pick<Service, 'feedback'> {
  /** Whether the acting stage is stopped. Left out: the acting stage itself acts. */
  isActingStopped?: () => Promise<boolean>;
}

/** The states in which a journey has an answer that counts. */
const answeredStates: readonly Journey['state'][] = ['answered', 'written', 'parked', 'failed', 'tested'];

/**
 * Does what the answer rules say about a journey's answer, once it has settled. A job judges only the newest version of the answer, as each version
 * has a job of its own; actions that an earlier version led to are done all the same.
 */
export async function act({ journeyId }: Pick<ActJob, 'journeyId'>, context: ActContext): Promise<JobResult> {
  const journey = await context.store.get(journeyId);
  if (journey?.erasedAt) return await removeLateNote(journey, context);
  if (journey?.answer === undefined || !answeredStates.includes(journey.state)) return done;
  const { waits } = await actOn(journey, () => undefined, context);
  return waits.length === 0 ? done : { do: 'wait', delayMs: Math.min(...waits) };
}

/** The result of acting: the journey as it was stored before the vendor was called, and how long the remaining actions have to wait. Real time. */
interface Acted {
  after: Journey | undefined;
  waits: number[];
}

/** @param change stored together with the verdicts of the rules, which judge the answer after this change */
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

/** The rules and actions of one job share a fresh reading of the record. Whatever an action changes, the connector itself reads from the vendor. */
function sharedReading({ read }: Pick<ActContext, 'read'>): ActContext['read'] {
  let last: { id: string; reading: Reading } | undefined;
  return async (id, ...about) => {
    if (last?.id !== id || !isFresh(last.reading)) last = { id, reading: await read(id, ...about) };
    return last.reading;
  };
}

/**
 * Judges the answer by these rules. If the answer leads to actions, closeloop first reads it again from the service: the customer may have
 * corrected it since the last collecting.
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

/** Whether the service has another answer by now. Collecting will store that answer as a new version, which a later job judges. */
async function isCorrected({ requestId, answer }: Journey, { feedback }: ActContext): Promise<boolean> {
  if (requestId === undefined || answer === undefined) return false;
  const now = await feedback.request(requestId).catch((error: unknown) => {
    // The service no longer has the request, or does not show it: the collected answer counts.
    if (error instanceof FeedbackError && error.advice.kind === 'permanent') return undefined;
    throw error;
  });
  if (now === undefined || (now.grade === null && now.comment === null)) return false;
  return now.grade !== answer.grade || (now.comment || null) !== answer.comment;
}

/** Evaluates a rule's condition. A condition that fails for this answer or record does not stop the other rules. */
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
 * Does the actions that are still to be done. The change, the results of closeloop's own actions, and the beginning of the vendor's actions are
 * stored in one write, before the vendor is called.
 */
async function perform(before: Journey, change: Decide, context: ActContext): Promise<Acted> {
  const changed = change(before);
  const journey = changed?.journey ?? before;
  const acts = openActs(journey);
  if (acts.length === 0 && changed === undefined) return { after: before, waits: [] };
  const { steps, unsaid } = stepsOf(acts, context.answerRules);
  const { vendor = [], ...own } = Object.groupBy(steps, kindOf);
  const planned = await planAtVendor(vendor, journey, context).catch((failure: unknown) => ({ ...nothing, failure }));
  const agent = own.followUp?.some(isForAgent) ? await agentOf(journey, context) : undefined;
  // Erasures are checked last, as reading the record may have taken long.
  if ((await erasureSince(journey, context)) !== undefined)
    return { after: await context.store.update(before, change), waits: [] };
  const now = context.ports.now();
  const followUps = (own.followUp ?? []).map((step) => openedBy(step, journey, { agent, at: context.clock.now() }));
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
  // If the answer has changed meanwhile, the actions were not stored: they no longer count against the day's limit.
  const stored = new Set(after.acting?.acts.map(({ marker }) => marker));
  const dropped = acts.map(({ marker }) => marker).filter((marker) => !stored.has(marker));
  await context.actions.giveBack(currentRecordOf(journey), dropped);
  // A follow-up that was open before stays as it is, with its own due time.
  for (const { followUp } of followUps)
    if (after.followUp?.dueAt.getTime() !== followUp?.dueAt.getTime())
      await context.followUps.relist(after.id, context.store);
  await tellParked(news, after, context);
  if (begun.length > 0) await doAtVendor(begun, acts, after, context);
  if (planned.failure !== undefined) throw planned.failure;
  // Another process has begun some of the actions, or a person has resumed other actions since.
  const known = new Set(acts.map(({ marker }) => marker));
  const isMore = openActs(after).some(({ marker }) => !known.has(marker));
  return { after, waits: isMore || begun.length < planned.requests.length ? [0] : planned.waits };
}

/** Adds follow-ups to the list before the journey holds them. A reader of the list removes entries that no journey awaits or holds. */
async function list(followUps: readonly News[], journey: Journey, change: Decide, context: ActContext) {
  const awaiting = change(journey) ? await context.store.update(journey, change) : journey;
  for (const { followUp } of followUps) if (followUp) await context.followUps.put('open', journey.id, followUp.dueAt);
  return awaiting ?? journey;
}

interface Beginning {
  /** The actions as they were read, or as the rules have added them. */
  acts: readonly Act[];
  change: Decide;
  news: readonly News[];
  requests: readonly ActionRequest[];
}

/** Stores everything that is known before the vendor is called. `begun`: the actions that this process has the vendor do. */
async function begin({ acts, change, news, requests }: Beginning, journey: Journey, context: ActContext) {
  const { store, ports, clock, settleMs } = context;
  const at = ports.now();
  let begun: readonly ActionRequest[] = [];
  const decide = inOneChange(change, (now) => {
    // Another process may have begun some of these actions since they were read, or may be writing a newer answer.
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

/** `unsaid`: actions that the configuration no longer has. */
function stepsOf(acts: readonly Act[], rules: readonly LoadedAnswerRule[]): { steps: Step[]; unsaid: Act[] } {
  const [steps, unsaid]: [Step[], Act[]] = [[], []];
  for (const act of acts) {
    const says = rules.find(({ name }) => name === act.rule)?.do[act.step];
    if (says?.name === act.name) steps.push({ ...says, act });
    else unsaid.push(act);
  }
  return { steps, unsaid };
}

const isForAgent = ({ params }: Step): boolean => FollowUpParams.parse(params).to === 'agent';

/** The name of the record's agent, where the connector presents agents. */
const agentOf = async (journey: Journey, context: ActContext): Promise<string | undefined> =>
  context.parts.agents && (await namesOf(journey, context)).agent;

/** The follow-up is stored in the journey, so that it is opened once, and taken by one person. */
function openedBy(
  { act: { marker, name, rule, version }, params }: Step,
  { answer }: Journey,
  { agent, at }: { agent: string | undefined; at: Date },
): News {
  const { to, due } = FollowUpParams.parse(params);
  const dueAt = new Date((answer?.seenAt ?? at).getTime() + due);
  const trace = `answer rule "${rule}": follow-up for ${to}, due ${dueAt.toISOString()}`;
  return {
    marker,
    name,
    change: { state: 'done', at },
    trace,
    followUp: {
      ...{ state: 'open', rule, to, openedAt: at, dueAt },
      ...(to === 'agent' && { agent }),
      // A process that was killed leaves the opening to a process that may know only a newer answer.
      ...(answer?.version === version && { openingGrade: answer.grade }),
    },
  };
}

/** The message is stored once, with this step of the journey, and the queue of each receiver sends it. */
function told({ act: { marker, name, rule }, params }: Step, at: Date): News {
  const to = ReceiverNames.parse(params);
  const trace = `answer rule "${rule}": ${to.join(', ')} ${to.length === 1 ? 'is' : 'are'} told of the answer`;
  return { marker, name, change: { state: 'done', at, to }, trace };
}

/** Gives up a job that failed for too long. Its actions stay in the journey, and a replay does them. */
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
