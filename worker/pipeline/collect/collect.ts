import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { contactKey } from '../../../core/contact.ts';
import { adviceOf, messageOf } from '../../../core/errors.ts';
import type { FeedbackClient } from '../../../core/feedback/client.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import type { FeedbackRequest } from '../../../core/feedback/request-form.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import type { Log } from '../../../core/ports.ts';
import type { Journey } from '../../journey/journey.ts';
import { keepingUnknown } from '../../journey/keeping-unknown.ts';
import { isUnreadable } from '../../journey/reader.ts';
import { refOf } from '../../journey/refs.ts';
import type { CollectPass } from '../../journey/store.ts';
import { type Decision, mayFollow, step } from '../../journey/transitions.ts';
import { failpoint } from '../../operations/failpoints.ts';
import type { RedisClient } from '../../redis/client.ts';
import { absentKey, begunKey, failingKey, seenKey } from '../../redis/keys.ts';
import { releaseLock, renewLock, takeFencedLock } from '../../redis/lock.ts';
import { isTo } from '../ask/find-request.ts';
import type { Clock } from '../clock.ts';
import type { SourceContext } from '../context.ts';
import { type CollectJob, done, type JobResult } from '../jobs.ts';

const Seen = keepingUnknown({ stats: z.string(), fullAt: z.coerce.date() });

/** `misfits`: journeys whose request's answer is not theirs. */
type CurrentPass = CollectPass & { misfits: Set<string> };

export interface CollectContext {
  redis: RedisClient;
  feedback: FeedbackClient;
  sources: SourceContext['sources'];
  clock: Clock;
  log: Log;
  /** A pass over the whole export even when the counts stand still: some changes leave them alone. */
  fullEveryMs: number;
  /** What was told about campaigns that can't be collected from. */
  troubled: Map<number, string>;
  alert: SourceContext['alert'];
}

/** A pass renews its lock with every page: longer than a page can take. Real time. */
const lockMs = 60_000;

/** Creating a request, and finding out whether it was created, is done by then. */
const youngMs = 600_000;

/** What could not be read is kept for whoever wants to look at it. Real time. */
const asideMs = 30 * 86_400_000;

/**
 * Finds new and changed grades of one campaign. One pass at a time. A pass that stood still past the end of its lock may hold
 * a page that is older than what newer passes have saved: the journeys refuse its generation (`JourneyStore.beginPass`). A pass
 * that fails isn't repeated: the next one comes by the schedule, and what was seen is stored only after a whole pass.
 */
export async function collect({ campaign }: CollectJob, context: CollectContext): Promise<JobResult> {
  const { redis, log } = context;
  const lock = `{cl}:lock:${campaign}`;
  const token = randomUUID();
  const generation = await takeFencedLock(redis, lock, token, lockMs);
  if (generation === undefined) return done;
  await redis.hset(begunKey, String(campaign), Date.now());
  try {
    await pass({ campaign, generation }, context, () => renewLock(redis, lock, token, lockMs));
    await redis.hdel(failingKey, String(campaign));
    await redis.srem(absentKey, String(campaign));
    context.troubled.delete(campaign);
  } catch (error) {
    const absent = error instanceof FeedbackError && (error.status === 403 || error.status === 404);
    if (!absent && adviceOf(error).kind === 'config') throw error;
    // Told once: a campaign that was switched off, or a service that is away, would fill the log with every pass.
    const why = messageOf(error);
    if (context.troubled.get(campaign) !== why) log.warn({ campaign, why }, 'grades could not be collected');
    context.troubled.set(campaign, why);
    await redis.hsetnx(failingKey, String(campaign), Date.now());
    await redis[absent ? 'sadd' : 'srem'](absentKey, String(campaign));
  } finally {
    await releaseLock(redis, lock, token);
  }
  return done;
}

/**
 * One call tells whether anything changed; only then the export is read, page by page. What was seen is stored as it
 * was before the pass: a change during the pass is met again.
 */
async function pass(current: CollectPass, context: CollectContext, renew: () => Promise<boolean>): Promise<void> {
  const { redis, feedback, clock, log } = context;
  const { campaign } = current;
  const seen = await seenBefore(campaign, context);
  const stats = fingerprint(await feedback.campaign(campaign));
  failpoint('collect-begun');
  const now = clock.now();
  const isFullDue = !seen || now.getTime() - seen.fullAt.getTime() >= context.fullEveryMs;
  if (!isFullDue && seen.stats === stats) return;

  // Before the first page is read: what an older pass still holds is older than that page.
  const sources = await context.sources();
  await Promise.all(sources.map(({ store }) => store.beginPass(current)));
  let answers = 0;
  let strangers = 0;
  let unreadable = 0;
  const misfits = new Set<string>();
  for await (const page of feedback.requestPages({ campaign })) {
    // This process stood still: another pass has begun, or the next one by the schedule reads all of it again.
    if (!(await renew())) return;
    const taken = await takeAnswers(page.results, { ...current, misfits }, sources, context);
    answers += taken.due;
    strangers += taken.strangers;
    unreadable += page.unreadable.length;
    const [first] = page.unreadable;
    if (first)
      log.warn({ campaign, requests: page.unreadable.length, why: first.message }, 'requests could not be read');
  }
  if (!(await renew())) return;
  if (misfits.size > 0) await tellMisfits(campaign, [...misfits], context);
  // One of them may belong to a journey that doesn't know its request yet: then nothing would tell of it again.
  const seenStats = strangers > 0 ? '' : stats;
  await redis.set(seenKey(campaign), JSON.stringify({ ...seen, stats: seenStats, fullAt: now }));
  failpoint('collected-noted');
  log.info({ campaign, answers, ...(unreadable > 0 ? { unreadable } : {}) }, 'collected');
}

/** What can't be read (another version wrote it) is set aside, and this pass reads the whole export: nothing is lost by it. */
async function seenBefore(campaign: number, { redis, log, alert }: CollectContext) {
  const stored = await redis.get(seenKey(campaign));
  if (stored === null) return undefined;
  const seen = Seen.safeParse(jsonOf(stored));
  if (seen.success) return seen.data;
  const aside = `${seenKey(campaign)}:unreadable`;
  await redis.set(aside, stored, 'PX', asideMs);
  await redis.del(seenKey(campaign));
  const why = `what was remembered of campaign ${campaign}'s last pass can not be read, and is begun anew`;
  log.error({ campaign, aside }, why);
  await alert('to-do', why, 'run one version everywhere; its grades come in all the same');
  return undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What changes whenever a grade or comment comes (mostly: see `fullEveryMs`). */
function fingerprint({ stats }: Campaign): string {
  const counts = Object.entries(stats.grade_counts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([stats.appeals_graded, stats.appeals_commented, stats.average_grade, counts]);
}

/** `strangers`: requests of no journey that were answered only just after they were made. */
async function takeAnswers(
  requests: readonly FeedbackRequest[],
  current: CurrentPass,
  sources: readonly SourceContext[],
  context: CollectContext,
): Promise<{ due: number; strangers: number }> {
  const answered = requests.filter(({ grade, comment }) => grade !== null || (comment !== null && comment !== ''));
  let taken = 0;
  const owned = new Set<string>();
  for (const source of sources) {
    const ids = await source.store.queries.idsOfRequests(answered.map(({ id }) => id));
    const journeys = await Promise.all(
      answered.map(async (request, i) => {
        const journeyId = ids[i];
        if (journeyId !== undefined) owned.add(request.id);
        return journeyId === undefined ? undefined : await takeReadably(journeyId, request, current, source);
      }),
    );
    // Also for an answer that was known: the job may have been lost with the process that stored the answer.
    const due = journeys.flatMap((journey) => (journey?.state === 'answered' ? [journey.id] : []));
    await source.queueWriteBack(due);
    taken += due.length;
  }
  const youngFrom = context.clock.now().getTime() - youngMs;
  const isYoung = ({ id, scheduled }: FeedbackRequest) =>
    !owned.has(id) && scheduled !== null && scheduled.getTime() > youngFrom;
  return { due: taken, strangers: answered.filter(isYoung).length };
}

/** Ids of requests mean something in one account of the service only: where they were given anew, another customer's stands here. */
function isAnswerTo({ campaign, contact }: Journey, request: FeedbackRequest, current: CollectPass): boolean {
  if (campaign !== (request.campaign ?? current.campaign)) return false;
  const { phone, email, identifier } = request;
  // A service may show no contacts, as of a person who was masked there: then the campaign has to do.
  const isShown = phone !== null || email !== null || identifier !== null;
  return !isShown || (contact !== undefined && isTo(request, contactKey(contact)));
}

async function tellMisfits(campaign: number, journeys: string[], { log, alert }: CollectContext): Promise<void> {
  const why = `campaign ${campaign}: answers were left at the service, as their requests are to other contacts or of other campaigns than the journeys that hold their ids`;
  log.error({ campaign, answers: journeys.length, journeys: journeys.slice(0, 20) }, why);
  await alert(
    'to-do',
    why,
    'see that "feedback" names the account that the customers were asked in; the log names journeys',
  );
}

/** One journey that can't be read must not keep the grades of a whole campaign from the others. */
async function takeReadably(id: string, request: FeedbackRequest, current: CurrentPass, context: SourceContext) {
  try {
    return await takeAnswer(id, request, current, context);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    context.log.error({ journey: refOf(context.name, id) }, 'its grade can not be noted: this journey can not be read');
    return undefined;
  }
}

async function takeAnswer(
  id: string,
  request: FeedbackRequest,
  current: CurrentPass,
  context: SourceContext,
): Promise<Journey | undefined> {
  const { grade } = request;
  const comment = request.comment === '' ? null : request.comment;
  const decide = (now: Journey): Decision => {
    if (now.erasedAt || !mayFollow(now.state, 'answered')) return undefined;
    if (now.answer && now.answer.grade === grade && now.answer.comment === comment) return undefined;
    if (!isAnswerTo(now, request, current)) {
      current.misfits.add(refOf(context.name, id));
      return undefined;
    }
    const version = (now.answer?.version ?? 0) + 1;
    const seenAt = context.clock.now();
    const what = version === 1 ? 'answered' : `answer changed (${version})`;
    context.log.info({ journey: refOf(context.name, id), version }, what);
    return {
      journey: step(now, 'answered', seenAt, { answer: { grade, comment, seenAt, version } }),
      trace: [
        `${what}: ${grade === null ? 'no grade' : `grade ${grade}`}${comment === null ? '' : ', with a comment'}`,
      ],
    };
  };
  return await context.store.update(id, decide, current);
}
