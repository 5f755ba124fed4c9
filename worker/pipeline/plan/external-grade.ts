import { adviceOf, CloseloopError } from '../../../core/errors.ts';
import type { FeedbackClient } from '../../../core/feedback/client.ts';
import { FeedbackError, isAboutCampaign } from '../../../core/feedback/failure.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { isBlank } from '../../../core/visible-text.ts';
import type { Journey, JourneyState } from '../../journey/journey.ts';
import { askedStates } from '../../journey/outcomes.ts';
import { refOf } from '../../journey/refs.ts';
import { erasureSince, type SnapshotContext, saveSnapshot } from '../erasure-guard.ts';
import { done, type ExternalGradeJob, type JobResult } from '../jobs.ts';
import type { Queues } from '../queues.ts';
import type { Vendor } from '../vendor.ts';
import { type PlanJourneyContext, planJourney } from './plan-journey.ts';

/** The parts of a source that sending a grade to the service needs. */
export type GradeContext = PlanJourneyContext &
  SnapshotContext &
  Pick<Vendor, 'read'> &
  Pick<Queues, 'queueAsk'> & { feedback: FeedbackClient };

/** A journey in these states asks no customer. */
const overStates: readonly JourneyState[] = ['skipped', 'cancelled', 'failed'];
/** The wait until the journey's request exists. Real time. */
const askingMs = 1_000;

/**
 * Saves a grade that the customer gave elsewhere in the record's journey, and sends it to the service: the request of an external
 * campaign is created like any other, then graded and commented. The newest version wins; sending a grade twice changes nothing.
 */
export async function takeExternalGrade(event: ExternalGradeJob, context: GradeContext): Promise<JobResult> {
  if (event.journeyId !== undefined) {
    const holder = await context.store.get(event.journeyId);
    return holder ? await sendGrade(holder, context) : done;
  }
  const journey = await journeyFor(event, context);
  if (!journey) return done;
  const { grade, comment, at } = event;
  const noted = await context.store.update(journey.id, (now) => {
    const isNews = !now.given || now.given.at < at;
    // An older event comes again when its worker died just after sending the grade, perhaps after the newest grade was sent.
    if (now.given && now.given.at > at && now.given.delivered) {
      return { journey: { ...now, given: { ...now.given, delivered: false } }, trace: [] };
    }
    if (!isNews) return undefined;
    // A journey without a contact is not found by an erasure, so the comment is not kept.
    const isLost = comment !== null && now.contact === undefined && overStates.includes(now.state);
    const words = isLost ? null : comment;
    const delivered = now.given?.grade === grade && now.given.comment === words && now.given.delivered;
    return {
      journey: { ...now, given: { at, grade, comment: words, delivered }, updatedAt: context.clock.now() },
      trace: [`a grade was given elsewhere${isLost ? ', and its comment is not kept' : ''}: ${event.what}`],
    };
  });
  return noted ? await sendGrade(noted, context) : done;
}

/**
 * The latest journey of the record; if the latest journey asks no customer, the journey that asked. A record without a journey gets a
 * journey, which is planned at once.
 */
async function journeyFor(event: ExternalGradeJob, context: GradeContext): Promise<Journey | undefined> {
  const { store } = context;
  const { latest, asked } = await store.records.historyOf(event.recordId);
  const known = latest === undefined ? undefined : await store.get(latest);
  const isOver = known !== undefined && overStates.includes(known.state);
  const before = isOver && asked !== undefined ? await store.get(asked) : undefined;
  if (before) return before;
  if (known && known.state !== 'received') return known;
  await saveSnapshot(event, context, { onlyFirst: true });
  const status = await context.read(event.recordId, 'plan', event.at);
  if (status.is !== 'closed') {
    const why = status.is === 'open' ? 'it is not closed' : status.why;
    context.log.warn({ source: context.name, record: event.recordId, why }, 'a grade for a record that asks nobody');
    return undefined;
  }
  const { recordId, key: eventKey, receivedAt } = event;
  const { journey } = await store.getOrCreate(
    { recordId, closing: status.closing, closedAt: status.closedAt, eventKey, receivedAt },
    [`received ${context.clock.at(receivedAt).toISOString()}: ${event.what}`],
  );
  if (journey.state !== 'received') return journey;
  const after = (await planJourney(journey, status, context))?.journey ?? journey;
  if (after.state === 'waiting' && after.dueAt) await context.queueAsk(after, after.dueAt);
  return after;
}

/** Why the campaign does not take the grade, if so. Used only once the service has refused the grade, as the cached campaign may be out of date. */
function outsideOf({ id, grade_list }: Campaign, grade: number): string | undefined {
  if (grade_list.includes(grade)) return undefined;
  const taken = grade_list.length === 0 ? 'no grade' : `only ${grade_list.join(', ')}`;
  return `the service refuses the grade ${grade} that was given elsewhere: campaign ${id} takes ${taken}; correct what finds the grade in the source's settings, or the campaign`;
}

/** @returns the service's refusal, where the campaign's grades explain it */
async function callService(
  { grade, comment }: Pick<NonNullable<Journey['given']>, 'grade' | 'comment'>,
  requestId: string,
  campaign: Campaign,
  { feedback }: GradeContext,
): Promise<CloseloopError | undefined> {
  let refused: CloseloopError | undefined;
  try {
    if (grade !== null) {
      const outside = outsideOf(campaign, grade);
      await feedback.grade(requestId, grade).catch((error: unknown) => {
        if (outside === undefined || adviceOf(error).kind !== 'permanent') throw error;
        refused = new CloseloopError(outside, { kind: 'permanent' }, { cause: error });
      });
    }
    if (comment !== null && !isBlank(comment)) await feedback.comment(requestId, comment);
  } catch (error) {
    if (!(error instanceof FeedbackError && isAboutCampaign(error))) throw error;
    const only = `grades of campaign ${campaign.id}`;
    throw new CloseloopError(error.message, { ...error.advice, kind: 'config', only }, { cause: error });
  }
  return refused;
}

async function sendGrade(journey: Journey, context: GradeContext): Promise<JobResult> {
  const { store, log } = context;
  const { given, requestId } = journey;
  if (!given || given.delivered) return done;
  const leave = async (why: string) => {
    await store.note(journey, `the grade is not passed on: ${why}`);
    return done;
  };
  if (requestId === undefined || !askedStates.includes(journey.state)) {
    const isComing = ['received', 'waiting', 'creating'].includes(journey.state);
    const untilDue = journey.state === 'waiting' && journey.dueAt ? context.clock.until(journey.dueAt) : 0;
    return isComing ? { do: 'wait', delayMs: askingMs + untilDue } : await leave(`the journey is ${journey.state}`);
  }
  if (journey.test) return await leave('the journey is a test');
  const campaign = journey.campaign === undefined ? undefined : await context.campaigns.get(journey.campaign);
  if (campaign?.type !== 'external') return await leave('the campaign is not external, it asks by itself');
  // A comment may name its writer.
  if ((await erasureSince(journey, context)) !== undefined) return done;
  const needs = [`grades of campaign ${campaign.id}`, 'operation grade', 'operation comment'];
  await context.holds.pass('plan', needs);
  const refused = await callService(given, requestId, campaign, context);
  if (refused !== undefined) {
    await store.note(journey, refused.message);
    throw refused;
  }
  await context.holds.lift('plan', needs);
  const after = await store.update(journey.id, (now) => {
    const delivered = now.given?.at.getTime() === given.at.getTime();
    if (!now.given || now.given.delivered === delivered) return undefined;
    const trace = delivered ? ['the service has the grade that was given elsewhere'] : [];
    return { journey: { ...now, given: { ...now.given, delivered } }, trace };
  });
  log.info({ journey: refOf(context.name, journey.id) }, 'graded at the service');
  // Another worker sent a newer grade meanwhile, and this older grade may have reached the service last.
  return after ? await sendGrade(after, context) : done;
}
