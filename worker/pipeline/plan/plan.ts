import { z } from 'zod';
import type { PresentedRecord } from '../../../core/connector/contract.ts';
import { ExpressionSetAside } from '../../../core/mapping/expression.ts';
import type { Journey } from '../../journey/journey.ts';
import { mayComeBack, step, unaskedStates } from '../../journey/transitions.ts';
import { failpoint } from '../../operations/failpoints.ts';
import { lookAt, refOf, type SourceContext } from '../context.ts';
import { erasedMeanwhile, keepSnapshot } from '../erase/erasure-race.ts';
import type { StageResult } from '../stage.ts';
import { finishWithdrawals, withdraw, withdrawAll } from '../withdraw.ts';
import { decide, needsOf } from './decide.ts';
import { takeGraded } from './external-grade.ts';
import { merged } from './merged.ts';
import { takeSurvey } from './survey.ts';

export const Happened = z.object({
  at: z.coerce.date(),
  key: z.string(),
  what: z.string(),
  receivedAt: z.coerce.date(),
});

const Told = z.record(z.string(), z.unknown()).optional();

const RecordJob = Happened.extend({
  kind: z.enum(['closed', 'changed']),
  recordId: z.string(),
  certain: z.boolean().default(false),
  closing: z.string().optional(),
  mergedInto: z.string().optional(),
  told: Told,
  /** Who found it: what a poll finds first, a webhook has missed. */
  via: z.enum(['webhook', 'poll', 'backfill']).default('webhook'),
  /** Of a backfill: one of them in so many milliseconds, also where they wait together because nobody was at work. */
  everyMs: z.number().positive().optional(),
  /** A poll sees old records that were touched: what closed before this was there before closeloop, and never asks. */
  notBefore: z.coerce.date().optional(),
  notAfter: z.coerce.date().optional(),
});
export type RecordJob = z.output<typeof RecordJob>;
const GradedJob = Happened.extend({
  kind: z.literal('graded'),
  recordId: z.string(),
  grade: z.number().nullable(),
  comment: z.string().nullable(),
  told: Told,
  /** Nothing new: what this journey holds is to be passed on. */
  journeyId: z.string().optional(),
});
export type GradedJob = z.output<typeof GradedJob>;
/** One that closeloop found itself; what is left out is as in a webhook's. */
export type OwnEvent = GradedJob | (Omit<RecordJob, 'certain' | 'via'> & Partial<Pick<RecordJob, 'certain' | 'via'>>);

const SurveyJob = Happened.extend({
  kind: z.literal('survey'),
  requestId: z.string(),
  answers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
});
export type SurveyJob = z.output<typeof SurveyJob>;

/** One event: what intake stores. Personal data only where it tells of a record, or where a person has answered elsewhere, until that is done. */
export const PlanJob = z.discriminatedUnion('kind', [
  RecordJob,
  GradedJob,
  SurveyJob,
  Happened.extend({ kind: z.literal('revoked') }),
]);
export type PlanJob = z.output<typeof PlanJob>;

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
    const { journey } = await claim(event, { recordId: event.recordId, closing: 'out', closedAt: event.at }, context);
    await skip(journey, look.why, [], context);
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
  const { journey, created } = await claim(event, { recordId: record.currentId, closing, closedAt }, context);
  failpoint('journey-claimed');
  await cancelEarlier(journey, context);
  if (mayComeBack(journey)) return await goOn(await takenUpAgain(journey, record, event, context), context);
  if (!created && journey.state !== 'received') {
    if (event.via === 'webhook') await store.note(journey.id, `another webhook for the same closing: ${event.what}`);
    return await goOn(journey, context);
  }
  return await goOn(await planned(journey, record, context), context);
}

/** Its record was deleted, or otherwise out of question, before its customer was asked; it is back, closed as it was. */
async function takenUpAgain(
  journey: Journey,
  record: PresentedRecord,
  event: RecordJob,
  context: SourceContext,
): Promise<Journey> {
  const after = await context.store.update(journey.id, (now) =>
    mayComeBack(now)
      ? {
          journey: step(now, 'received', context.clock.now()),
          trace: [`the record is back, closed as it was (${event.what}): taken up again`],
        }
      : undefined,
  );
  return after?.state === 'received' ? await planned(after, record, context) : (after ?? journey);
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
  const { journey } = await claim(event, at, context);
  await skip(journey, 'it was open again when it was read', [], context);
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
  const { journey } = await claim(event, at, context);
  await context.store.update(journey.id, (now) =>
    now.state === 'received'
      ? { journey: step(now, 'failed', context.clock.now(), { why }), trace: [`failed: ${why}`] }
      : undefined,
  );
}

/** The next stage's job, made after the journey was saved: a process killed in between finds it missing and adds it. */
async function goOn(journey: Journey, context: SourceContext): Promise<StageResult> {
  if (journey.state === 'waiting' && journey.dueAt) await context.queueAsk(journey.id, journey.dueAt);
  failpoint('ask-queued');
  return { do: 'done' };
}

async function claim(
  event: RecordJob,
  closing: { recordId: string; closing: string; closedAt: Date },
  context: SourceContext,
): Promise<{ journey: Journey; created: boolean }> {
  const { key: eventKey, receivedAt, via } = event;
  const found =
    via === 'poll' ? ', found by the poll: no webhook had told of it' : via === 'backfill' ? ', backfill' : '';
  const claimed = await context.store.claim({ ...closing, eventKey, receivedAt }, [
    `received ${receivedAt.toISOString()}: ${event.what}, at ${event.at.toISOString()}${found}`,
  ]);
  if (claimed.created) {
    const ref = refOf(context.name, claimed.journey.id);
    context.log.info({ journey: ref, event: event.what }, 'received');
    if (via === 'poll') await context.missed(ref, event.at);
  }
  return claimed;
}

async function skip(
  journey: Journey,
  why: string,
  trace: string[],
  context: SourceContext,
  chosen: Partial<Journey> = {},
): Promise<Journey> {
  const skipped = await context.store.update(journey.id, (now) =>
    now.state === 'received'
      ? {
          journey: step(now, 'skipped', context.clock.now(), { ...chosen, why }),
          trace: [...trace, `skipped: ${why}`],
        }
      : undefined,
  );
  context.log.info({ journey: refOf(context.name, journey.id), why }, 'skipped');
  return skipped ?? journey;
}

/** The journey with what was decided about it; erased, where its person was forgotten meanwhile. */
export async function planned(journey: Journey, record: PresentedRecord, context: SourceContext): Promise<Journey> {
  const after = await decided(journey, record, context);
  return (await erasedMeanwhile(after, context)) ?? after;
}

async function decided(journey: Journey, record: PresentedRecord, context: SourceContext): Promise<Journey> {
  const { clock, store, log } = context;
  const { id: journeyId, recordId, closedAt } = journey;
  const pass = (rule: Parameters<typeof needsOf>[0]) => context.holds.pass('plan', needsOf(rule));
  const verdict = await decide({ journeyId, recordId, closedAt }, record, context, pass).catch(
    async (error: unknown) => {
      if (error instanceof ExpressionSetAside) await store.note(journeyId, `waits: ${error.message}`);
      throw error;
    },
  );
  if (verdict.do === 'skip') {
    const { rule } = verdict;
    const chosen = {
      ...(rule ? { rule: rule.name, campaign: rule.campaign } : {}),
      ...(record.personId === undefined ? {} : { personId: record.personId }),
    };
    return await skip(journey, verdict.why, verdict.trace, context, chosen);
  }
  const { rule, campaign, contact, values, dueAt, trace } = verdict;
  const grades = campaign.grade_list;
  const after = await store.update(journeyId, (now) =>
    now.state === 'received'
      ? {
          journey: step(now, 'waiting', clock.now(), {
            rule: rule.name,
            campaign: campaign.id,
            campaignName: campaign.name,
            ...(grades.length > 0 ? { maxGrade: Math.max(...grades) } : {}),
            ...(record.timeZone === undefined ? {} : { recipientZone: record.timeZone }),
            ...(record.personId === undefined ? {} : { personId: record.personId }),
            contact,
            values,
            dueAt,
          }),
          trace,
        }
      : undefined,
  );
  failpoint('decision-saved');
  await context.holds.lift('plan', needsOf(rule));
  log.info({ journey: refOf(context.name, journeyId), rule: rule.name, campaign: campaign.id, dueAt }, 'waiting');
  return after ?? journey;
}
