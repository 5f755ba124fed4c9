import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { notingCalls } from '../../../core/connector/calls.ts';
import { jsonBody } from '../../../core/connector/json-body.ts';
import { adviceOf, messageOf } from '../../../core/errors.ts';
import type { FeedbackClient } from '../../../core/feedback/client.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import type { CampaignStats } from '../../../core/feedback/schemas.ts';
import type { Log } from '../../../core/ports.ts';
import { WorkCalls, workCalls } from '../../journey/calls.ts';
import { keepingUnknown } from '../../journey/journey.ts';
import type { CollectPass } from '../../journey/requests.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import { type RedisClient, runScript } from '../../redis/client.ts';
import { absentKey, begunKey, failingKey, passKey, seenKey } from '../../redis/keys.ts';
import { releaseLock, renewLock, takeFencedLock } from '../../redis/lock.ts';
import type { Clock } from '../clock.ts';
import { type CollectJob, done, type JobResult } from '../jobs.ts';
import { type CollectedSource, type Pass, reportMismatches, takePage } from './answers.ts';
import { areSame, Counts, countsOf } from './counts.ts';
import type { Reading } from './narrow-ways.ts';
import { expectedIn, type Narrowed, readAll, waysFor } from './ways.ts';
import { Window } from './window.ts';

const Seen = keepingUnknown({
  stats: z.string(),
  /** When the whole export was last read, and when a part of it was. */
  fullAt: z.coerce.date(),
  at: z.coerce.date().optional(),
  counts: Counts.optional(),
  window: Window.optional(),
});
type Seen = z.output<typeof Seen>;

/**
 * Stores the result of a pass, unless the next pass has to read the whole export: a journey learnt its request while this pass
 * was under way, and the pass may have met the answer before that. KEYS stored result, the pass · ARGV generation, new result
 */
const noteScript = `
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
return 1`;

interface CollectContext {
  redis: RedisClient;
  feedback: FeedbackClient;
  sources: () => Promise<CollectedSource[]>;
  clock: Clock;
  log: Log;
  /** The time after which a pass reads the whole export although the counts are unchanged: some changes do not change the counts. */
  fullEveryMs: number;
  /** The values that configured filters narrow the list of requests by. Left out: none. */
  narrowed?: Narrowed;
  /** The last logged error of each campaign. */
  lastErrors: Map<number, string>;
  alert: AlertOfSource;
}

/** The time after which a pass's lock expires: longer than a page can take, as a pass renews its lock with every page. Real time. */
const lockMs = 60_000;
/** How long an unreadable entry is kept for inspection. Real time. */
const asideMs = 30 * 86_400_000;

/**
 * Finds new and changed grades of one campaign, one pass at a time. A pass whose process was suspended past the end of its lock may
 * hold a page that is older than what newer passes have saved: its generation is refused (`JourneyRequests.beginPass`). A failed
 * pass is not retried: the schedule brings the next one, and the counts are stored only after a complete pass.
 */
export async function collect({ campaign }: CollectJob, context: CollectContext): Promise<JobResult> {
  const { redis, log } = context;
  const lock = `{cl}:lock:${campaign}`;
  const token = randomUUID();
  const generation = await takeFencedLock(redis, lock, token, lockMs);
  if (generation === undefined) return done;
  await redis.hset(begunKey, String(campaign), Date.now());
  try {
    await notingCalls(new WorkCalls(() => context.clock.now()), () =>
      collectOnce({ campaign, generation }, context, () => renewLock(redis, lock, token, lockMs)),
    );
    await redis.hdel(failingKey, String(campaign));
    await redis.srem(absentKey, String(campaign));
    context.lastErrors.delete(campaign);
  } catch (error) {
    const absent = error instanceof FeedbackError && (error.status === 403 || error.status === 404);
    if (!absent && adviceOf(error).kind === 'config') throw error;
    // Logged once: an inactive campaign, or a service that is down, would fill the log with every pass.
    const why = messageOf(error);
    if (context.lastErrors.get(campaign) !== why) log.warn({ campaign, why }, 'grades could not be collected');
    context.lastErrors.set(campaign, why);
    await redis.hsetnx(failingKey, String(campaign), Date.now());
    await redis[absent ? 'sadd' : 'srem'](absentKey, String(campaign));
  } finally {
    await releaseLock(redis, lock, token);
  }
  return done;
}

/**
 * Reads the campaign's counts, which show whether anything changed. If so, reads the fewest requests that may have changed: the
 * counts show whether these requests explain the whole change. Stores the counts from before the pass, so that the next pass meets a
 * change that comes during this pass.
 */
async function collectOnce(
  current: CollectPass,
  context: CollectContext,
  renew: () => Promise<boolean>,
): Promise<void> {
  const { redis, clock, log } = context;
  const { campaign, generation } = current;
  const seen = await seenBefore(campaign, context);
  const { stats } = await context.feedback.campaign(campaign);
  const now = clock.now();
  const isFullDue = !seen || now.getTime() - seen.fullAt.getTime() >= context.fullEveryMs;
  if (!isFullDue && seen.stats === fingerprint(stats)) return;

  await redis.set(passKey(campaign), generation);
  // The pass begins before its first page is read, so that every page of an older pass is older than the pages of this pass.
  const sources = await context.sources();
  await Promise.all(sources.map(({ store }) => store.requests.beginPass(current)));
  const isPaused = await Promise.all(sources.map((source) => source.isCollectPaused()));
  const paused = new Set(sources.filter((_, i) => isPaused[i]).map(({ name }) => name));
  const none = { heldBack: 0, answers: 0, unmatched: 0, unreadable: 0 };
  const pass: Pass = { ...current, ...none, seenAt: now, sources, paused, mismatches: new Set() };
  const found = await readChanged(pass, isFullDue ? undefined : seen, stats, renew, context);
  if (found === undefined || !(await renew())) return;
  await reportMismatches(pass, context);
  // The counts are not stored, so every pass meets these answers again, until they are taken.
  if (pass.heldBack > 0) return;
  // An unmatched request may belong to a journey that does not know its request yet: the next pass has to read it again.
  const news = { stats: pass.unmatched > 0 ? '' : fingerprint(stats), counts: countsOf(stats), at: now };
  const fullAt = found.isWhole || !seen ? now : seen.fullAt;
  const noted = JSON.stringify({ ...seen, ...news, fullAt, window: found.window });
  await runScript(redis, noteScript, [seenKey(campaign), passKey(campaign)], generation, noted);
  const { answers, unreadable } = pass;
  log.info({ campaign, answers, ...(unreadable > 0 ? { unreadable } : {}) }, 'collected');
}

/** @returns undefined where another pass, or the next pass, has to read the change */
async function readChanged(
  pass: Pass,
  seen: Seen | undefined,
  stats: CampaignStats,
  renew: () => Promise<boolean>,
  context: CollectContext,
): Promise<{ window: Window | undefined; isWhole: boolean } | undefined> {
  const { campaign } = pass;
  const { feedback, narrowed = { changedSince: false, dateFrom: false } } = context;
  const take = async (page: Parameters<typeof takePage>[0]) => {
    await takePage(page, pass, context);
    // The calls for the next page are noted apart from the calls for this page.
    workCalls()?.begin();
  };
  const reading = { feedback, renew, take };
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
    // The counts moved during the reading: the difference may be answers that came meanwhile.
    const { stats: later } = await feedback.campaign(campaign);
    if (!areSame(countsOf(later), change.now)) return undefined;
  }
  return undefined;
}

/** Reads the result that the last pass stored. An unreadable entry (of another version) is set aside, and this pass reads the whole export. */
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

/** A text that changes with nearly every grade or comment (see `fullEveryMs`). */
function fingerprint(stats: CampaignStats): string {
  const counts = Object.entries(stats.grade_counts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([stats.appeals_graded, stats.appeals_commented, stats.average_grade, counts]);
}
