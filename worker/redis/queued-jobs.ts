import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { RedisClient } from './client.ts';
import { tagOf } from './keys.ts';

const together = /^together-(\d+)-/;

/** The id of a single job in place of these jobs. The id tells how many jobs it replaces. */
export function togetherId(ids: readonly string[]): string {
  return `together-${ids.length}-${createHash('sha256').update(ids.join('\n')).digest('base64url')}`;
}

/** Jobs of a queue by BullMQ's states. A job counts as the number of its pieces of data. */
export interface QueueDepth {
  waiting: number;
  running: number;
  /** Jobs that wait for their time. */
  delayed: number;
  /** Jobs that were given up and are stored for inspection. */
  failed: number;
  /** The time since which the first waiting job could have begun. */
  oldestAt?: Date;
}

/**
 * How many jobs of a source's queue wait, run, or are delayed. Read without BullMQ: loading BullMQ takes longer than everything else that a
 * reading command does.
 */
export async function queuedJobs(redis: RedisClient, source: string, queue: string): Promise<number> {
  const { waiting, running, delayed } = await queueDepth(redis, { prefix: tagOf(source), name: queue });
  return waiting + running + delayed;
}

/** The most ids that are read from a list. For a longer list the number of pieces of data is estimated from these ids. */
const mostIds = 1_000;

/** Reads up to `mostIds` ids of each list, and one job. */
export async function queueDepth(
  redis: RedisClient,
  { prefix, name }: { prefix: string; name: string },
): Promise<QueueDepth> {
  const key = (part: string): string => `${prefix}:${name}:${part}`;
  const [waiting, running, delayed, failed, oldest] = await Promise.all([
    inList(redis, key('wait')),
    inList(redis, key('active')),
    inSortedSet(redis, key('delayed')),
    redis.zcard(key('failed')),
    redis.lindex(key('wait'), -1),
  ]);
  const oldestAt = oldest === null ? undefined : await readySince(redis, key(oldest));
  return { waiting, running, delayed, failed, ...(oldestAt && { oldestAt }) };
}

/** BullMQ's score of a delayed job is its instant times this (src/commands/includes/getDelayedScore.lua). */
const ofInstant = 0x1000;

/** The ids of the jobs that wait for an instant up to `until`, the earliest first. */
export async function firstDelayed(
  redis: RedisClient,
  { prefix, name }: { prefix: string; name: string },
  { until, most }: { until: Date; most: number },
): Promise<string[]> {
  const last = (until.getTime() + 1) * ofInstant;
  return await redis.zrangebyscore(`${prefix}:${name}:delayed`, '-inf', `(${last}`, 'LIMIT', 0, most);
}

async function inList(redis: RedisClient, key: string): Promise<number> {
  const [jobs, ids] = await Promise.all([redis.llen(key), redis.lrange(key, 0, mostIds - 1)]);
  return heldBy(jobs, ids);
}

async function inSortedSet(redis: RedisClient, key: string): Promise<number> {
  const [jobs, ids] = await Promise.all([redis.zcard(key), redis.zrange(key, '0', `${mostIds - 1}`)]);
  return heldBy(jobs, ids);
}

/** @param jobs how many jobs there were a moment before; some may have gone since */
function heldBy(jobs: number, ids: readonly string[]): number {
  const held = ids.reduce((sum, id) => sum + Number(together.exec(id)?.[1] ?? 1), 0);
  return ids.length < mostIds ? held : Math.round((held * jobs) / ids.length);
}

const Options = z.object({ delay: z.number().optional() });

/** BullMQ forgets when a delayed job was due. The job was not ready before its first delay had passed, nor before its last run. */
async function readySince(redis: RedisClient, job: string): Promise<Date | undefined> {
  const [addedAt, options, workedAt] = await redis.hmget(job, 'timestamp', 'opts', 'processedOn');
  if (!addedAt || !options) return undefined;
  const { delay = 0 } = Options.parse(JSON.parse(options));
  return new Date(Math.max(Number(addedAt) + delay, Number(workedAt ?? 0)));
}
