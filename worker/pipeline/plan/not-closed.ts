import type { PresentedRecord } from '../../../core/connector/contract.ts';
import type { Journey } from '../../journey/journey.ts';
import { unaskedStates } from '../../journey/outcomes.ts';
import { ifStill } from '../../journey/transitions.ts';
import { done, type JobResult, type PlanJob, type RecordJob, retryLater } from '../jobs.ts';
import type { RecordStatus } from '../vendor.ts';
import { queueIfBack, withdrawAll } from '../withdraw.ts';
import type { PlanContext } from './plan-context.ts';
import { getOrCreateJourney, isOutside, skipUndecided } from './plan-journey.ts';

/** How long a vendor's API may lag behind its own webhook. Real time. */
const lagMs = 30_000;

/** The state of the event's record here, before the record is read. */
export interface Before {
  /** The journeys that an event about the record can still end, also of earlier closings and of merged records. */
  live: readonly Journey[];
  latest: Journey | undefined;
  /** The closing's journey was cancelled because the record was gone. */
  wasOut: boolean;
}

export async function planOpen(
  event: RecordJob,
  { readAgainAt, record }: Extract<RecordStatus, { is: 'open' }>,
  { live, wasOut }: Before,
  context: PlanContext,
): Promise<JobResult> {
  const why = `the record is open again (${event.what})`;
  if ((await withdrawAll(live, why, context)) === 'asking') return retryLater;
  if (readAgainAt && event.kind === 'closed') {
    return { do: 'wait', delayMs: Math.max(1_000, readAgainAt.getTime() - Date.now()) };
  }
  if (event.certain && !wasOut) return await closedButOpen(event, record, context);
  context.log.info({ source: context.name, record: event.recordId, event: event.what }, 'not closed: nothing to ask');
  return done;
}

export async function planOut(
  event: RecordJob,
  { why, record }: Extract<RecordStatus, { is: 'out' }>,
  { live, latest, wasOut }: Before,
  context: PlanContext,
): Promise<JobResult> {
  if ((await withdrawAll(live, why, context, { isOut: true })) === 'asking') return retryLater;
  if (live.some(({ state }) => unaskedStates.includes(state)))
    await queueIfBack(event.recordId, `back:${event.key}`, context);
  if (wasOut || event.kind === 'changed' || isOutside(event.at, event)) return done;
  if (latest && unaskedStates.includes(latest.state)) return done;
  const at = { recordId: event.recordId, closing: 'out', closedAt: event.at };
  const journey = await getOrCreateJourney(event, at, context);
  await skipUndecided(journey, { reason: 'out', why }, record, context);
  return done;
}

/** The webhook said closed, and the record reads as open: it was reopened at once, or the API lags behind the webhook. */
async function closedButOpen(event: RecordJob, record: PresentedRecord, context: PlanContext): Promise<JobResult> {
  if (Date.now() - event.receivedAt.getTime() < lagMs) return { do: 'wait', delayMs: lagMs };
  const at = { recordId: event.recordId, closing: `event:${event.key}`, closedAt: event.at };
  const journey = await getOrCreateJourney(event, at, context);
  await skipUndecided(journey, { reason: 'reopened', why: 'it was open again when it was read' }, record, context);
  return done;
}

/** The event's job failed for good: its closing becomes a failed journey, with the reason. */
export async function giveUpPlan(event: PlanJob, why: string, context: PlanContext): Promise<void> {
  if (event.kind !== 'closed') {
    context.log.error(
      { source: context.name, event: event.what, kind: event.kind, why },
      'an event was given up: "closeloop events replay" takes it up again',
    );
    return;
  }
  const at = { recordId: event.recordId, closing: `event:${event.key}`, closedAt: event.at };
  const known = await (await context.store.records.read(event.recordId)).journeyOf(event.key, event.closing);
  const journey = known ?? (await getOrCreateJourney(event, at, context));
  await context.store.update(journey.id, ifStill('received', { to: 'failed', at: context.clock.now(), why }));
}
