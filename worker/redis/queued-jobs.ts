import { z } from 'zod';
import type { RedisClient } from './client.ts';
import { tagOf } from './keys.ts';

/** Jobs of a queue by their state, as BullMQ counts them. */
export interface QueueDepth {
  waiting: number;
  running: number;
  /** Jobs that wait for their time. */
  delayed: number;
  /** Jobs that were given up, and are kept. */
  failed: number;
  /** Since when the first of the jobs that wait for a worker could have begun. */
  oldestAt?: Date;
}

/**
 * The number of jobs of a source's queue that wait, run, or wait for their time. Read without BullMQ, which takes longer to load than
 * a command that only reads takes for all the rest.
 */
export async function queuedJobs(redis: RedisClient, source: string, queue: string): Promise<number> {
  const { waiting, running, delayed } = await queueDepth(redis, { prefix: tagOf(source), name: queue });
  return waiting + running + delayed;
}

/** Reads one job only. */
export async function queueDepth(
  redis: RedisClient,
  { prefix, name }: { prefix: string; name: string },
): Promise<QueueDepth> {
  const key = (part: string): string => `${prefix}:${name}:${part}`;
  const [waiting, running, delayed, failed, oldest] = await Promise.all([
    redis.llen(key('wait')),
    redis.llen(key('active')),
    redis.zcard(key('delayed')),
    redis.zcard(key('failed')),
    redis.lindex(key('wait'), -1),
  ]);
  const oldestAt = oldest === null ? undefined : await readySince(redis, key(oldest));
  return { waiting, running, delayed, failed, ...(oldestAt && { oldestAt }) };
}

const Options = z
  .string()
  .transform((text) => JSON.parse(text))
  .pipe(z.object({ delay: z.number().optional() }));

/** BullMQ forgets when a delayed job was due: not before its own delay, nor before it was last worked on. */
async function readySince(redis: RedisClient, job: string): Promise<Date | undefined> {
  const [addedAt, options, workedAt] = await redis.hmget(job, 'timestamp', 'opts', 'processedOn');
  if (!addedAt || !options) return undefined;
  const { delay = 0 } = Options.parse(options);
  return new Date(Math.max(Number(addedAt) + delay, Number(workedAt ?? 0)));
}
