import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { jsonBody } from '../../../core/connector/json-body.ts';
import { adviceOf, messageOf } from '../../../core/errors.ts';
import type { FeedbackClient } from '../../../core/feedback/client.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import type { CampaignStats } from '../../../core/feedback/schemas.ts';
import type { Log } from '../../../core/ports.ts';
import { keepingUnknown } from '../../journey/keeping-unknown.ts';
import type { CollectPass } from '../../journey/requests.ts';
import { failpoint } from '../../operations/failpoints.ts';
import type { RedisClient } from '../../redis/client.ts';
import { absentKey, begunKey, failingKey, seenKey } from '../../redis/keys.ts';
import { releaseLock, renewLock, takeFencedLock } from '../../redis/lock.ts';
import type { Clock } from '../clock.ts';
import type { SourceContext } from '../context.ts';
import { type CollectJob, done, type JobResult } from '../jobs.ts';
import { type Pass, takePage, tellMisfits } from './answers.ts';
import { areSame, Counts, countsOf } from './counts.ts';
import { expectedIn } from './expected.ts';
import { type Narrowed, type Reading, readAll, waysFor } from './ways.ts';
import { Window } from './window.ts';

const Seen = keepingUnknown({
  stats: z.string(),
  /** When the whole export was read, and when any of it. */
  fullAt: z.coerce.date(),
  at: z.coerce.date().optional(),
  counts: Counts.optional(),
  window: Window.optional(),
});
type Seen = z.output<typeof Seen>;

export interface CollectContext {
  redis: RedisClient;
  feedback: FeedbackClient;
  sources: SourceContext['sources'];
  clock: Clock;
  log: Log;
  /** A pass over the whole export even when the counts stand still: some changes leave them alone. */
  fullEveryMs: number;
  /** What the configured filters narrow the list of requests by. Left out: nothing. */
  narrowed?: Narrowed;
  /** What was told about campaigns that can't be collected from. */
  troubled: Map<number, string>;
  alert: SourceContext['alert'];
}

/** A pass renews its lock with every page: longer than a page can take. Real time. */
const lockMs = 60_000;

/** What could not be read is kept for whoever wants to look at it. Real time. */
const asideMs = 30 * 86_400_000;

/**
 * Finds new and changed grades of one campaign. One pass at a time. A pass that stood still past the end of its lock may hold
 * a page that is older than what newer passes have saved: the journeys refuse its generation (`JourneyRequests.beginPass`). A pass
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
    await collectOnce({ campaign, generation }, context, () => renewLock(redis, lock, token, lockMs));
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
 * One call tells whether anything changed; only then requests are read, and no more of them than may have changed: what the
 * service counts tells whether that was all. What was seen is stored as it was before the pass: a change during the pass is met
 * again.
 */
async function collectOnce(
  current: CollectPass,
  context: CollectContext,
  renew: () => Promise<boolean>,
): Promise<void> {
  const { redis, clock, log } = context;
  const { campaign } = current;
  const seen = await seenBefore(campaign, context);
  const { stats } = await context.feedback.campaign(campaign);
  failpoint('collect-begun');
  const now = clock.now();
  const isFullDue = !seen || now.getTime() - seen.fullAt.getTime() >= context.fullEveryMs;
  if (!isFullDue && seen.stats === fingerprint(stats)) return;

  // Before the first page is read: what an older pass still holds is older than that page.
  const sources = await context.sources();
  await Promise.all(sources.map(({ store }) => store.requests.beginPass(current)));
  const isPaused = await Promise.all(sources.map((source) => source.isCollectPaused()));
  const paused = new Set(sources.filter((_, i) => isPaused[i]).map(({ name }) => name));
  const none = { heldBack: 0, answers: 0, strangers: 0, unreadable: 0 };
  const pass: Pass = { ...current, ...none, sources, paused, misfits: new Set() };
  const found = await readChanged(pass, isFullDue ? undefined : seen, stats, renew, context);
  if (found === undefined || !(await renew())) return;
  await tellMisfits(pass, context);
  // Then every pass meets them again, until they are taken.
  if (pass.heldBack > 0) return;
  // One of them may belong to a journey that doesn't know its request yet: then nothing would tell of it again.
  const news = { stats: pass.strangers > 0 ? '' : fingerprint(stats), counts: countsOf(stats), at: now };
  const fullAt = found.isWhole || !seen ? now : seen.fullAt;
  await redis.set(seenKey(campaign), JSON.stringify({ ...seen, ...news, fullAt, window: found.window }));
  failpoint('collected-noted');
  const { answers, unreadable } = pass;
  log.info({ campaign, answers, ...(unreadable > 0 ? { unreadable } : {}) }, 'collected');
}

/** @returns undefined: another pass reads it, or the next one */
async function readChanged(
  pass: Pass,
  seen: Seen | undefined,
  stats: CampaignStats,
  renew: () => Promise<boolean>,
  context: CollectContext,
): Promise<{ window: Window | undefined; isWhole: boolean } | undefined> {
  const { campaign } = pass;
  const { feedback, narrowed = { changedSince: false, dateFrom: false } } = context;
  const reading = { feedback, renew, take: (page: Parameters<typeof takePage>[0]) => takePage(page, pass, context) };
  const expected = await expectedIn(campaign, pass.sources, context.clock.now());
  const change = { campaign, before: seen?.counts ?? {}, now: countsOf(stats), window: seen?.window, since: seen?.at };
  const ways = seen?.counts ? waysFor(expected, change, { total: stats.appeals_total, narrowed }) : [readAll];
  for (const way of ways) {
    const isWhole = way === readAll;
    const found = await way(expected, change, reading).catch((error: unknown): Reading => {
      if (isWhole || adviceOf(error).kind === 'transient') throw error;
      return { is: 'unexplained' };
    });
    if (found.is === 'overtaken') return undefined;
    if (found.is === 'explained') return { window: found.window ?? (isWhole ? undefined : seen?.window), isWhole };
    // While they were read more was answered, which may be what is missing.
    const { stats: later } = await feedback.campaign(campaign);
    if (!areSame(countsOf(later), change.now)) return undefined;
  }
  return undefined;
}

/** What can't be read (another version wrote it) is set aside, and this pass reads the whole export: nothing is lost by it. */
async function seenBefore(campaign: number, { redis, log, alert }: CollectContext) {
  const stored = await redis.get(seenKey(campaign));
  if (stored === null) return undefined;
  const seen = Seen.safeParse(jsonBody(stored));
  if (seen.success) return seen.data;
  const aside = `${seenKey(campaign)}:unreadable`;
  await redis.set(aside, stored, 'PX', asideMs);
  await redis.del(seenKey(campaign));
  const why = `what was remembered of campaign ${campaign}'s last pass can not be read, and is begun anew`;
  log.error({ campaign, aside }, why);
  await alert('to-do', why, 'run one version everywhere; its grades come in all the same');
  return undefined;
}

/** What changes whenever a grade or comment comes (mostly: see `fullEveryMs`). */
function fingerprint(stats: CampaignStats): string {
  const counts = Object.entries(stats.grade_counts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([stats.appeals_graded, stats.appeals_commented, stats.average_grade, counts]);
}
