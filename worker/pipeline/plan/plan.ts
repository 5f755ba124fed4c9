import type { PresentedRecord } from '../../../core/connector/contract.ts';
import type { Journey } from '../../journey/journey.ts';
import { refOf } from '../../journey/refs.ts';
import { ifStill, mayComeBack, unaskedStates } from '../../journey/transitions.ts';
import type { Journeys, Operations, Policy, Queues } from '../context.ts';
import { keepSnapshot } from '../erase/erasure-race.ts';
import { done, type JobResult, type PlanJob, type RecordJob, retryLater } from '../jobs.ts';
import type { RecordStatus } from '../vendor.ts';
import { finishWithdrawals, type WithdrawContext, withdraw, withdrawAll } from '../withdraw.ts';
import { type GradeContext, takeExternalGrade } from './external-grade.ts';
import { merged } from './merged.ts';
import { planJourney, skipJourney } from './plan-journey.ts';
import { takeSurvey } from './survey.ts';

/** What planning takes of a source. */
export type PlanContext = GradeContext &
  WithdrawContext &
  Pick<Journeys, 'aliases' | 'sources'> &
  Pick<Queues, 'queueEvent' | 'rateLimit'> &
  Pick<Policy, 'keepMs'> &
  Pick<Operations, 'missed' | 'revoke'>;

/** How long a vendor's reading may lag behind its own webhook. Real time. */
const lagMs = 30_000;

/** Event → journey → decision. May run any number of times for one event, and be killed anywhere. */
export async function plan(event: PlanJob, context: PlanContext): Promise<JobResult> {
  switch (event.kind) {
    case 'external-grade':
      return await takeExternalGrade(event, context);
    case 'survey':
      return await takeSurvey(event, context);
    case 'revoked':
      await context.revoke(event.what);
      return done;
    default:
      return await planRecord(event, context);
  }
}

/** What is known of the event's record before it is read. */
interface Before {
  /** Can still be ended by what happens to the record: of earlier closings as well, and of records that were merged into it. */
  live: readonly Journey[];
  latest: Journey | undefined;
  /** The closing's journey was ended as the record was out of question. */
  wasOut: boolean;
}

/**
 * The event is a hint; the record, read now, is the truth. The journey of a closing is made once, and every step looks
 * at its state first.
 */
async function planRecord(event: RecordJob, context: PlanContext): Promise<JobResult> {
  const known = await knownJourney(event, context);
  await keepWhatIsTold(event, known, context);
  const wasOut = known !== undefined && mayComeBack(known);
  if (known && known.state !== 'received' && !wasOut) return await enqueueAsk(known, context);
  const delayMs = event.everyMs === undefined ? 0 : await context.rateLimit(event.key, event.everyMs);
  if (delayMs > 0) return { do: 'wait', delayMs };

  const journeys = await journeysOf(event.recordId, context);
  const latest = journeys.findLast(({ recordId }) => recordId === event.recordId);
  const live = journeys.filter((one) => one.state === 'creating' || endable(one));
  // The service may be at work on it: what becomes of the request decides what can still be done.
  if (live.some(({ state }) => state === 'creating')) return retryLater;
  if (event.mergedInto !== undefined) return await merged(event.recordId, event.mergedInto, event.at, context);
  if (event.kind === 'changed' && live.length === 0) return done;

  const status = await context.read(event.recordId, 'plan');
  const before = { live, latest, wasOut };
  if (status.is === 'open') return await planOpen(event, status, before, context);
  if (status.is === 'out') return await planOut(event, status.why, before, context);
  return await planClosed(event, status, context);
}

async function knownJourney(event: RecordJob, { store }: PlanContext): Promise<Journey | undefined> {
  const ofEvent = await store.records.ofEvent(event.recordId, event.key);
  if (ofEvent || event.closing === undefined) return ofEvent;
  return await store.records.ofClosing(event.recordId, event.closing);
}

/** What the event tells of its record; of one whose person was forgotten nothing is kept. */
async function keepWhatIsTold(event: RecordJob, known: Journey | undefined, context: PlanContext): Promise<void> {
  if (!known?.erasedAt) return await keepSnapshot(event, context);
  const all = await context.store.records.journeysOf(event.recordId);
  if (all.every(({ erasedAt }) => erasedAt)) await context.aliases.fade(event.recordId);
}

/** The record's, once what a killed worker had begun to withdraw is withdrawn. */
async function journeysOf(recordId: string, context: PlanContext): Promise<Journey[]> {
  const { store } = context;
  const journeys = await store.records.journeysOf(recordId);
  return (await finishWithdrawals(journeys, context)) ? await store.records.journeysOf(recordId) : journeys;
}

async function planOpen(
  event: RecordJob,
  { lookAgainAt }: Extract<RecordStatus, { is: 'open' }>,
  { live, wasOut }: Before,
  context: PlanContext,
): Promise<JobResult> {
  const why = `the record is open again (${event.what})`;
  if ((await withdrawAll(live, why, context)) === 'asking') return retryLater;
  if (lookAgainAt && event.kind === 'closed') {
    return { do: 'wait', delayMs: Math.max(1_000, lookAgainAt.getTime() - Date.now()) };
  }
  if (event.certain && !wasOut) return await closedButOpen(event, context);
  context.log.info({ source: context.name, record: event.recordId, event: event.what }, 'not closed: nothing to ask');
  return done;
}

async function planOut(
  event: RecordJob,
  why: string,
  { live, latest, wasOut }: Before,
  context: PlanContext,
): Promise<JobResult> {
  if ((await withdrawAll(live, why, context, { isOut: true })) === 'asking') return retryLater;
  if (wasOut || event.kind === 'changed' || isOutside(event.at, event)) return done;
  if (latest && unaskedStates.includes(latest.state)) return done;
  const at = { recordId: event.recordId, closing: 'out', closedAt: event.at };
  const { journey } = await getOrCreateJourney(event, at, context);
  await skipJourney(journey, why, [], context);
  return done;
}

async function planClosed(
  event: RecordJob,
  { closing, closedAt, record }: Extract<RecordStatus, { is: 'closed' }>,
  context: PlanContext,
): Promise<JobResult> {
  const { store } = context;
  // Nobody has told of the merge, or not yet: whoever was asked about the one counts as asked about the other.
  if (record.currentId !== event.recordId) {
    const noted = await merged(event.recordId, record.currentId, closedAt, context);
    if (noted.do === 'wait') return noted;
  }
  if (event.kind === 'changed' || isOutside(closedAt, event)) return done;
  // It may have asked, and its journey been removed since: somebody has touched an old record.
  const isOld = event.via !== 'backfill' && context.clock.now().getTime() - closedAt.getTime() > context.keepMs;
  if (isOld && !(await store.records.ofClosing(record.currentId, closing))) {
    context.log.info({ source: context.name, record: event.recordId, closedAt }, 'closed too long ago to ask');
    return done;
  }
  const at = { recordId: record.currentId, closing, closedAt };
  const { journey, created } = await getOrCreateJourney(event, at, context);
  await cancelEarlier(journey, context);
  if (mayComeBack(journey)) return await enqueueAsk(await takenUpAgain(journey, record, event, context), context);
  if (!created && journey.state !== 'received') {
    if (event.via === 'webhook') await store.note(journey.id, `another webhook for the same closing: ${event.what}`);
    return await enqueueAsk(journey, context);
  }
  return await enqueueAsk(await planJourney(journey, record, context), context);
}

/** The one journey of this closing: made now (`created`), or found. */
async function getOrCreateJourney(
  event: RecordJob,
  closing: { recordId: string; closing: string; closedAt: Date },
  context: PlanContext,
): Promise<{ journey: Journey; created: boolean }> {
  const { key: eventKey, receivedAt, via } = event;
  const found =
    via === 'poll' ? ', found by the poll: no webhook had told of it' : via === 'backfill' ? ', backfill' : '';
  const result = await context.store.getOrCreate({ ...closing, eventKey, receivedAt }, [
    `received ${receivedAt.toISOString()}: ${event.what}, at ${event.at.toISOString()}${found}`,
  ]);
  if (result.created) {
    const ref = refOf(context.name, result.journey.id);
    context.log.info({ journey: ref, event: event.what }, 'received');
    if (via === 'poll') await context.missed(ref, event.at);
  }
  return result;
}

/** Its record was deleted, or otherwise out of question, before its customer was asked; it is back, closed as it was. */
async function takenUpAgain(
  journey: Journey,
  record: PresentedRecord,
  event: RecordJob,
  context: PlanContext,
): Promise<Journey> {
  const after = await context.store.update(
    journey.id,
    ifStill('cancelled', {
      to: 'received',
      at: context.clock.now(),
      trace: [`the record is back, closed as it was (${event.what}): taken up again`],
      when: mayComeBack,
    }),
  );
  return after?.state === 'received' ? await planJourney(after, record, context) : (after ?? journey);
}

/** Can still be ended by what happens to its record. */
function endable({ state }: Journey): boolean {
  return unaskedStates.includes(state) || state === 'asked';
}

function isOutside(closedAt: Date, { notBefore, notAfter }: RecordJob): boolean {
  return (notBefore !== undefined && closedAt < notBefore) || (notAfter !== undefined && closedAt > notAfter);
}

/** The vendor said closed, and shows it open: reopened at once, or its reading lags behind its webhook. */
async function closedButOpen(event: RecordJob, context: PlanContext): Promise<JobResult> {
  if (Date.now() - event.receivedAt.getTime() < lagMs) return { do: 'wait', delayMs: lagMs };
  const at = { recordId: event.recordId, closing: `event:${event.key}`, closedAt: event.at };
  const { journey } = await getOrCreateJourney(event, at, context);
  await skipJourney(journey, 'it was open again when it was read', [], context);
  return done;
}

/** Journeys of earlier closings that have not asked yet: this closing is the one to ask about. */
async function cancelEarlier(journey: Journey, context: PlanContext): Promise<void> {
  const dot = journey.id.lastIndexOf('.');
  for (let n = Number(journey.id.slice(dot + 1)) - 1; n >= 1; n--) {
    const earlier = await context.store.get(`${journey.id.slice(0, dot)}.${n}`);
    if (!earlier || !unaskedStates.includes(earlier.state)) continue;
    await withdraw(earlier, `the record was closed again: journey ${refOf(context.name, journey.id)}`, context);
  }
}

/** The event's job failed for good: the closing is not lost, it stands in the list with its reason. */
export async function giveUpPlan(event: PlanJob, why: string, context: PlanContext): Promise<void> {
  if (event.kind !== 'closed') {
    context.log.error(
      { source: context.name, event: event.what, kind: event.kind, why },
      'an event was given up: "closeloop events replay" takes it up again',
    );
    return;
  }
  const at = { recordId: event.recordId, closing: `event:${event.key}`, closedAt: event.at };
  const { journey } = await getOrCreateJourney(event, at, context);
  await context.store.update(journey.id, ifStill('received', { to: 'failed', at: context.clock.now(), why }));
}

/** The next stage's job, made after the journey was saved: a process killed in between finds it missing and adds it. */
async function enqueueAsk(journey: Journey, context: PlanContext): Promise<JobResult> {
  if (journey.state === 'waiting' && journey.dueAt) await context.queueAsk(journey.id, journey.dueAt);
  // Killed while it asked in the same job (plan-and-ask.ts): what became of the request is found out when it may be looked for.
  if (journey.state === 'creating' && journey.intent) await context.queueAsk(journey.id, journey.intent.lookAfter);
  return done;
}
