import type { Journey } from '../../journey/journey.ts';
import { unaskedStates } from '../../journey/outcomes.ts';
import type { RememberedRecord } from '../../journey/record-memory.ts';
import { recordOf, refOf } from '../../journey/refs.ts';
import { ifStill, mayComeBack } from '../../journey/transitions.ts';
import { eraseIfForgotten, saveSnapshot } from '../erasure-guard.ts';
import { done, type JobResult, type PlanJob, type RecordJob, retryLater } from '../jobs.ts';
import type { ClosedReading } from '../vendor.ts';
import { merged, tryToWithdraw, withdraw } from '../withdraw.ts';
import { takeExternalGrade } from './external-grade.ts';
import { type Before, planOpen, planOut } from './not-closed.ts';
import type { PlanContext } from './plan-context.ts';
import {
  aheadLine,
  type ClosingAt,
  getOrCreateJourney,
  isOutside,
  newClosing,
  type PlannedJourney,
  planJourney,
  receivedLine,
} from './plan-journey.ts';
import { takeSurvey } from './survey.ts';

/** Event → journey → decision. May run any number of times for one event, and be killed anywhere. */
export async function plan(event: PlanJob, context: PlanContext): Promise<JobResult> {
  // A dry run has no feedback request that a grade could belong to.
  if (context.dryRun && (event.kind === 'external-grade' || event.kind === 'survey')) return done;
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

/**
 * The event is a hint; the record, read now, is the truth. A closing has one journey, and every step checks the journey's
 * state first.
 */
async function planRecord(event: RecordJob, context: PlanContext): Promise<JobResult> {
  if (event.kind === 'changed') await context.store.records.noteChanged(event.recordId);
  const remembered = await context.store.records.read(event.recordId);
  const found = await remembered.journeyOf(event.key, event.closing);
  // A worker may have been killed after it stored the journey, and before it checked whether the person was erased meanwhile.
  const known = found && (await eraseIfForgotten(found, context));
  // An erased journey no longer shows whose closing it is.
  if (!known?.erasedAt) await saveSnapshot(event, context);
  const wasOut = known !== undefined && mayComeBack(known);
  if (known && known.state !== 'received' && !wasOut) return await enqueueAsk({ journey: known }, event, context);
  const delayMs = event.everyMs === undefined ? 0 : await context.rateLimit(event.key, event.everyMs);
  if (delayMs > 0) return { do: 'wait', delayMs };

  const { live, latest } = await journeysOf(event.recordId, remembered, context);
  // The service may be processing a request: its outcome decides what can still be withdrawn.
  if (live.some(({ state }) => state === 'creating')) return retryLater;
  if (event.mergedInto !== undefined) return await merged(event.recordId, event.mergedInto, event.at, context);
  if (event.kind === 'changed' && live.length === 0) return done;

  const status = await context.read(event.recordId, 'plan', event.at);
  const isMerged = status.is === 'closed' && status.record.currentId !== event.recordId;
  if (status.is === 'closed' && !isMerged) return await planClosed(event, status, remembered, context);
  if (event.kind === 'closed') {
    await context.store.records.noteChanged(event.recordId);
    const now = await journeysOf(event.recordId, await context.store.records.read(event.recordId), context);
    // Another job has made a journey meanwhile, by an earlier reading or by a later one: the record is read again.
    if (now.live.some(({ id }) => live.every((one) => one.id !== id))) return retryLater;
  }
  if (status.is === 'closed') return await planClosed(event, status, undefined, context);
  const before = { live, latest, wasOut };
  if (status.is === 'open') return await planOpen(event, status, before, context);
  return await planOut(event, status, before, context);
}

/** The record's journeys that matter to an event, after finishing withdrawals that a killed worker had begun. */
async function journeysOf(
  recordId: string,
  remembered: RememberedRecord,
  context: PlanContext,
): Promise<Pick<Before, 'live' | 'latest'>> {
  const found = await remembered.journeys();
  let all = found;
  for (const journey of found) {
    const { state, withdrawing } = journey;
    if (state !== 'asked' || withdrawing === undefined) continue;
    // The withdrawal is finished whatever state the record has now.
    await tryToWithdraw(journey, withdrawing, context);
    all = await context.store.records.journeysOf(recordId);
  }
  return {
    live: all.filter((one) => one.state === 'creating' || endable(one)),
    latest: all.findLast((one) => one.recordId === recordId),
  };
}

/** @param known the stored state of the record under its present id; left out: it is read from Redis */
async function planClosed(
  event: RecordJob,
  reading: ClosedReading,
  known: RememberedRecord | undefined,
  context: PlanContext,
): Promise<JobResult> {
  const { closing, closedAt, record } = reading;
  // The record was merged, and no event has reported the merge yet: a customer asked about one record counts as asked about the other.
  if (record.currentId !== event.recordId) {
    const noted = await merged(event.recordId, record.currentId, closedAt, context);
    if (noted.do === 'wait') return noted;
  }
  if (event.kind === 'changed' || isOutside(closedAt, event)) return done;
  const remembered = known ?? (await context.store.records.read(record.currentId));
  const { id, exists } = remembered.nameOf(closing);
  const why = exists || event.via === 'backfill' ? undefined : await whyBeforeTime(closedAt, context);
  if (why !== undefined) {
    context.log.info({ source: context.name, record: event.recordId, closedAt }, why);
    return done;
  }
  const at = { recordId: record.currentId, closing, closedAt };
  if (exists || remembered.hasEvent(event.key)) return await planAgain(event, at, reading, context);
  const ahead = aheadLine(closedAt, context.clock.now());
  if (ahead !== undefined)
    context.log.warn({ journey: refOf(context.name, id), why: ahead }, 'a closing of the future');
  const lines = [receivedLine(event, context), ...(ahead === undefined ? [] : [ahead])];
  const draft = context.store.drafts.make(id, newClosing(event, at, context), lines, known?.seen);
  await cancelEarlier(draft, context);
  const planned = await planJourney(draft, reading, context, await remembered.history());
  if (planned) return await enqueueAsk(planned, event, context);
  // Another event has created the closing's journey meanwhile, or the journey of another closing has taken its number.
  const now = await context.store.records.read(record.currentId);
  const isAsRead = known === undefined || now.seen === known.seen;
  // Where another closing has taken the number, this reading does not count: the other closing may be later.
  const isKnown = now.nameOf(closing).exists || now.hasEvent(event.key);
  return isAsRead && isKnown ? await planClosed(event, reading, undefined, context) : await planRecord(event, context);
}

/** Plans a closing that already has a journey, from an interrupted attempt or another event, or because its record is back. */
async function planAgain(
  event: RecordJob,
  at: ClosingAt,
  reading: ClosedReading,
  context: PlanContext,
): Promise<JobResult> {
  const journey = await getOrCreateJourney(event, at, context);
  await cancelEarlier(journey, context);
  if (mayComeBack(journey))
    return await enqueueAsk(await takenUpAgain(journey, reading, event, context), event, context);
  if (journey.state !== 'received') {
    if (event.via === 'webhook')
      await context.store.note(journey, `another webhook for the same closing: ${event.what}`);
    return await enqueueAsk({ journey }, event, context);
  }
  return await enqueueAsk((await planJourney(journey, reading, context)) ?? { journey }, event, context);
}

/** Why a closing without a journey gets none, if so. */
async function whyBeforeTime(closedAt: Date, context: PlanContext): Promise<string | undefined> {
  // An old record was changed. A journey of the record may have asked, and may have been removed since.
  if (context.clock.now().getTime() - closedAt.getTime() > context.keepMs) return 'closed too long ago to ask';
  const dry = await context.ranDry();
  const isDuring = dry && closedAt >= dry.from && closedAt <= dry.until;
  return isDuring ? 'closed while only a dry run ran: "closeloop backfill" asks about it' : undefined;
}

/** Resumes a journey that was cancelled before asking because its record was gone: the record is back, with the same closing. */
async function takenUpAgain(
  journey: Journey,
  reading: ClosedReading,
  event: RecordJob,
  context: PlanContext,
): Promise<PlannedJourney> {
  const after = await context.store.update(
    journey.id,
    ifStill('cancelled', {
      to: 'received',
      at: context.clock.now(),
      trace: [`the record is back, closed as it was (${event.what}): taken up again`],
      when: mayComeBack,
    }),
  );
  const planned = after?.state === 'received' ? await planJourney(after, reading, context) : undefined;
  return planned ?? { journey: after ?? journey };
}

/** Whether an event about the record can still end the journey. */
function endable({ state }: Journey): boolean {
  return unaskedStates.includes(state) || state === 'asked';
}

/** Withdraws journeys of earlier closings that have not asked yet: the customer is asked about this closing. */
async function cancelEarlier(journey: Journey, context: PlanContext): Promise<void> {
  const record = recordOf(journey.id);
  for (let n = Number(journey.id.slice(record.length + 1)) - 1; n >= 1; n--) {
    const earlier = await context.store.get(`${record}.${n}`);
    if (!earlier || !unaskedStates.includes(earlier.state)) continue;
    await withdraw(earlier, `the record was closed again: journey ${refOf(context.name, journey.id)}`, context);
  }
}

/** When an asking job has something to do about the journey; undefined: never. */
function asksAt({ state, dueAt, intent }: Journey): Date | undefined {
  if (state === 'waiting') return dueAt;
  // The worker was killed while asking in the planning job (plan-and-ask.ts): the asking job searches for the request.
  return state === 'creating' ? intent?.searchAfter : undefined;
}

/** Queues the asking job after the journey was saved: after a kill in between, the repeated event adds it. */
async function enqueueAsk(
  { journey, unstored }: PlannedJourney,
  event: RecordJob,
  context: PlanContext,
): Promise<JobResult> {
  const dueAt = asksAt(journey);
  if (dueAt === undefined) return done;
  if (dueAt <= context.clock.now() && (await context.takeDue?.(journey, unstored))) return done;
  if (unstored && !(await context.store.keep(journey, []))) return await planRecord(event, context);
  await context.queueAsk(journey, dueAt);
  return done;
}
