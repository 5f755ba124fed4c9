import type { PresentedRecord } from '../../../core/connector/contract.ts';
import type { Journey } from '../../journey/journey.ts';
import { ifStill, mayComeBack, unaskedStates } from '../../journey/transitions.ts';
import { failpoint } from '../../operations/failpoints.ts';
import { lookAt, refOf, type SourceContext } from '../context.ts';
import { keepSnapshot } from '../erase/erasure-race.ts';
import type { PlanJob, RecordJob, StageResult } from '../jobs.ts';
import { finishWithdrawals, withdraw, withdrawAll } from '../withdraw.ts';
import { takeGraded } from './external-grade.ts';
import { getOrCreateJourney } from './get-or-create.ts';
import { merged } from './merged.ts';
import { planJourney, skipJourney } from './plan-journey.ts';
import { takeSurvey } from './survey.ts';

/** How long a vendor's reading may lag behind its own webhook. Real time. */
const lagMs = 30_000;
/** Whether the service has a request is being found out. Real time. */
const comeAgain: StageResult = { do: 'wait', delayMs: 2_000 };

/** Event → journey → decision. May run any number of times for one event, and be killed anywhere. */
export async function plan(event: PlanJob, context: SourceContext): Promise<StageResult> {
  switch (event.kind) {
    case 'graded':
      return await takeGraded(event, context);
    case 'survey':
      return await takeSurvey(event, context);
    case 'revoked':
      await context.revoke(event.what);
      return { do: 'done' };
    default:
      return await planRecord(event, context);
  }
}

/**
 * The event is a hint; the record, read now, is the truth. The journey of a closing is claimed once, and every step looks
 * at its state first.
 */
async function planRecord(event: RecordJob, context: SourceContext): Promise<StageResult> {
  failpoint('plan-begun');
  const { store } = context;
  const known =
    (await store.ofEvent(event.recordId, event.key)) ??
    (event.closing === undefined ? undefined : await store.ofClosing(event.recordId, event.closing));
  if (!known?.erasedAt) await keepSnapshot(event, context);
  else if ((await store.ofRecord(event.recordId)).every(({ erasedAt }) => erasedAt)) {
    await context.aliases.fade(event.recordId);
  }
  const wasOut = known !== undefined && mayComeBack(known);
  if (known && known.state !== 'received' && !wasOut) return await goOn(known, context);
  const untilTurn = event.everyMs === undefined ? 0 : await context.untilTurn(event.key, event.everyMs);
  if (untilTurn > 0) return { do: 'wait', delayMs: untilTurn };

  let journeys = await store.ofRecord(event.recordId);
  if (await finishWithdrawals(journeys, context)) journeys = await store.ofRecord(event.recordId);
  const latest = journeys.findLast(({ recordId }) => recordId === event.recordId);
  // Of earlier closings as well, and of records that were merged into it.
  const live = journeys.filter((one) => one.state === 'creating' || endable(one));
  // The service may be at work on it: what becomes of the request decides what can still be done.
  if (live.some(({ state }) => state === 'creating')) return comeAgain;
  if (event.mergedInto !== undefined) return await merged(event.recordId, event.mergedInto, context);
  if (event.kind === 'changed' && live.length === 0) return { do: 'done' };

  const look = lookAt(await context.read(event.recordId, 'plan'));
  failpoint('record-read');
  if (look.is === 'open') {
    const why = `the record is open again (${event.what})`;
    if ((await withdrawAll(live, why, context)) === 'asking') return comeAgain;
    if (look.lookAgainAt && event.kind === 'closed') {
      return { do: 'wait', delayMs: Math.max(1_000, look.lookAgainAt.getTime() - Date.now()) };
    }
    if (event.certain && !wasOut) return await closedButOpen(event, context);
    context.log.info({ source: context.name, record: event.recordId, event: event.what }, 'not closed: nothing to ask');
    return { do: 'done' };
  }
  if (look.is === 'out') {
    if ((await withdrawAll(live, look.why, context, { isOut: true })) === 'asking') return comeAgain;
    if (wasOut) return { do: 'done' };
    if (event.kind === 'changed' || (latest && unaskedStates.includes(latest.state)) || isOutside(event.at, event)) {
      return { do: 'done' };
    }
    const { journey } = await getOrCreateJourney(
      event,
      { recordId: event.recordId, closing: 'out', closedAt: event.at },
      context,
    );
    await skipJourney(journey, look.why, [], context);
    return { do: 'done' };
  }
  if (event.kind === 'changed' || isOutside(look.closedAt, event)) return { do: 'done' };

  const { closing, closedAt, record } = look;
  // It may have asked, and its journey been removed since: somebody has touched an old record.
  const isOld = event.via !== 'backfill' && context.clock.now().getTime() - closedAt.getTime() > context.keepMs;
  if (isOld && !(await store.ofClosing(record.currentId, closing))) {
    context.log.info({ source: context.name, record: event.recordId, closedAt }, 'closed too long ago to ask');
    return { do: 'done' };
  }
  const { journey, created } = await getOrCreateJourney(
    event,
    { recordId: record.currentId, closing, closedAt },
    context,
  );
  failpoint('journey-claimed');
  await cancelEarlier(journey, context);
  if (mayComeBack(journey)) return await goOn(await takenUpAgain(journey, record, event, context), context);
  if (!created && journey.state !== 'received') {
    if (event.via === 'webhook') await store.note(journey.id, `another webhook for the same closing: ${event.what}`);
    return await goOn(journey, context);
  }
  return await goOn(await planJourney(journey, record, context), context);
}

/** Its record was deleted, or otherwise out of question, before its customer was asked; it is back, closed as it was. */
async function takenUpAgain(
  journey: Journey,
  record: PresentedRecord,
  event: RecordJob,
  context: SourceContext,
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
async function closedButOpen(event: RecordJob, context: SourceContext): Promise<StageResult> {
  if (Date.now() - event.receivedAt.getTime() < lagMs) return { do: 'wait', delayMs: lagMs };
  const at = { recordId: event.recordId, closing: `event:${event.key}`, closedAt: event.at };
  const { journey } = await getOrCreateJourney(event, at, context);
  await skipJourney(journey, 'it was open again when it was read', [], context);
  return { do: 'done' };
}

/** Journeys of earlier closings that have not asked yet: this closing is the one to ask about. */
async function cancelEarlier(journey: Journey, context: SourceContext): Promise<void> {
  const dot = journey.id.lastIndexOf('.');
  for (let n = Number(journey.id.slice(dot + 1)) - 1; n >= 1; n--) {
    const earlier = await context.store.get(`${journey.id.slice(0, dot)}.${n}`);
    if (!earlier || !unaskedStates.includes(earlier.state)) continue;
    await withdraw(earlier, `the record was closed again: journey ${refOf(context.name, journey.id)}`, context);
  }
}

/** The event's job failed for good: the closing is not lost, it stands in the list with its reason. */
export async function giveUpPlan(event: PlanJob, why: string, context: SourceContext): Promise<void> {
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
async function goOn(journey: Journey, context: SourceContext): Promise<StageResult> {
  if (journey.state === 'waiting' && journey.dueAt) await context.queueAsk(journey.id, journey.dueAt);
  failpoint('ask-queued');
  return { do: 'done' };
}
