import type { RedisClient } from './client.ts';
import { tagOf } from './keys.ts';

export interface QueueDepth {
  waiting: number;
  running: number;
  /** They wait for their time. */
  delayed: number;
  /** When the job that has waited longest for a worker was added. */
  oldestAt?: Date;
}

/**
 * Jobs of a source's queue that wait, run, or wait for their time, as BullMQ counts them. Asked of Redis itself: a command that
 * only looks would take longer to load BullMQ than for all the rest.
 */
export async function queuedJobs(redis: RedisClient, source: string, queue: string): Promise<number> {
  const { waiting, running, delayed } = await queueDepth(redis, source, queue);
  return waiting + running + delayed;
}

export async function queueDepth(redis: RedisClient, source: string, queue: string): Promise<QueueDepth> {
  const key = (name: string): string => `${tagOf(source)}:${queue}:${name}`;
  const [waiting, running, delayed, oldest] = await Promise.all([
    redis.llen(key('wait')),
    redis.llen(key('active')),
    redis.zcard(key('delayed')),
    redis.lindex(key('wait'), -1),
  ]);
  const addedAt = oldest === null ? null : await redis.hget(key(oldest), 'timestamp');
  return { waiting, running, delayed, ...(addedAt !== null && { oldestAt: new Date(Number(addedAt)) }) };
}
