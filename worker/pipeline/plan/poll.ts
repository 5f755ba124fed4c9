import { randomUUID } from 'node:crypto';
import type { Source } from '../../../core/connector/contract.ts';
import { isRecordEvent } from '../../../core/connector/delivery.ts';
import type { SourceEvent } from '../../../core/connector/events.ts';
import { pageWatch } from '../../../core/connector/pages.ts';
import { adviceOf, messageOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/ports.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import type { Pauses } from '../../operations/pauses.ts';
import type { RedisClient } from '../../redis/client.ts';
import { releaseLock, takeLock } from '../../redis/lock.ts';
import type { Seal } from '../../redis/seal.ts';
import { noteRequested } from '../erasure-guard.ts';
import { addEvents, type DueEvent, type IngestionQueues, jobIdOf } from '../queues.ts';
import { type PollState, pollKey, pollState } from './poll-state.ts';

/** A page may wait for the vendor's quota; the lock is renewed with every page. Real time. */
const lockMs = 120_000;

/** A poll without a cursor begins this long before the last successful poll. Real time. */
const marginMs = 86_400_000;
/** The wait before a poll is tried again after a configuration error, as a person may have mended the cause. Real time. */
const refusedMs = 60_000;
/** A person is alerted when no poll has got through for this time. Real time. */
const overdueMs = 86_400_000;
const overdue = 'no poll has got through for a day: closings that webhooks miss are not found';
const overdueRemedy = 'see "the poll ended early" in the log; where it waits for the quota, leave closeloop more of it';

interface PollOptions {
  redis: RedisClient;
  pauses: Pauses;
  /** The time between two polls. Real time. */
  everyMs: number;
  /** Polled events wait this long for the vendor's webhook, so that only closings without a webhook count as missed. Real time. */
  headStartMs: number;
  /** Whether the source must not begin a poll now. Left out: it always may. */
  isHeldUp?: () => Promise<boolean>;
  jobs: IngestionQueues;
}

/** The most pages of one poll or backfill: enough for years of a large company. */
export const mostPages = 100_000;

type PollContext = Parameters<typeof noteRequested>[2] & {
  name: string;
  source: Source;
  seal: Seal;
  log: Log;
  alert: AlertOfSource;
};

/**
 * Asks the vendor what changed since the last poll, if a poll is due, and queues the changes like events of webhooks. One process polls at a time.
 * The cursor is stored after its page: after a kill the next poll reads the page again, and its events are already known.
 */
export async function poll(context: PollContext, options: PollOptions): Promise<void> {
  const { redis, pauses, everyMs, jobs } = options;
  const { name, storedAs, source, log } = context;
  const headStartMs = source.isPolled ? 0 : options.headStartMs;
  const key = pollKey(storedAs);
  // Before the first start no webhook was missed: the first poll begins when the first interval has passed.
  if ((await redis.hsetnx(key, 'since', Date.now())) === 1) await redis.hset(key, 'begunAt', Date.now());
  if (!source.poll || (await options.isHeldUp?.())) return;
  const known = await pollState(redis, storedAs);
  // `begunAt` may lie in the future, where the clock was set back since.
  if (!known || Math.abs(Date.now() - known.begunAt) < everyMs) return;
  const token = randomUUID();
  const lock = `${key}:lock`;
  if (!(await takeLock(redis, lock, token, lockMs))) return;
  try {
    await redis.hset(key, 'begunAt', Date.now());
    let from: { cursor: string } | { since: Date } =
      known.cursor === undefined ? { since: beginning(known) } : { cursor: known.cursor };
    for (const watch = pageWatch(`the poll of ${name}`, mostPages); ; ) {
      const page = await source.poll(from);
      const found = page.events.flatMap((event) => eventOf(event, known.since, headStartMs) ?? []);
      await noteRequested(page.events, new Date(), context);
      // Polled events have job ids of their own: a webhook of the same closing must not count as a repetition of the polled event.
      await addEvents(jobs, found, (key) => `poll-${jobIdOf(key, context.seal)}`);
      await redis.hset(key, 'cursor', page.cursor);
      from = { cursor: page.cursor };
      if (page.done) break;
      watch(page.cursor);
      if (!(await takeLock(redis, lock, token, lockMs))) return;
    }
    await redis.hset(key, 'doneAt', Date.now());
    await pauses.lift('poll');
  } catch (error) {
    const why = messageOf(error);
    const { kind } = adviceOf(error);
    if (kind === 'config') {
      if (everyMs > refusedMs) await redis.hset(key, 'begunAt', Date.now() - everyMs + refusedMs);
      return await pauses.set('poll', why);
    }
    log.warn({ source: name, why }, 'the poll ended early; the next one goes on');
    // The cursor may come from another version or other settings, and be invalid.
    if (kind === 'permanent') await redis.hdel(key, 'cursor');
    const { doneAt = known.since } = known;
    if (Date.now() - doneAt.getTime() > overdueMs) await context.alert('paused', overdue, overdueRemedy);
  } finally {
    await releaseLock(redis, lock, token);
  }
}

/** Where a poll without a cursor begins: journeys of older closings may have been removed. */
function beginning({ since, doneAt }: PollState): Date {
  return doneAt === undefined ? since : new Date(Math.max(since.getTime(), doneAt.getTime() - marginMs));
}

/** The event as it is queued; undefined for an event that is left out. Real time. */
function eventOf(event: SourceEvent, notBefore: Date, headStartMs: number): DueEvent | undefined {
  const receivedAt = new Date();
  if (isRecordEvent(event)) {
    const age = Date.now() - event.at.getTime();
    const delayMs = Math.max(0, headStartMs - Math.max(0, age));
    return { event: { ...event, via: 'poll', notBefore, receivedAt }, delayMs };
  }
  // A grade from before closeloop has no journey.
  if (event.kind === 'external-grade' && event.at < notBefore) return undefined;
  return { event: { ...event, receivedAt } };
}
