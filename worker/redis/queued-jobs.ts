import type { RedisClient } from './client.ts';
import { tagOf } from './keys.ts';

/**
 * Jobs of a source's queue that wait, run, or wait for their time, as BullMQ counts them. Asked of Redis itself: a command that
 * only looks would take longer to load BullMQ than for all the rest.
 */
export async function queuedJobs(redis: RedisClient, source: string, queue: string): Promise<number> {
  const key = (state: string): string => `${tagOf(source)}:${queue}:${state}`;
  const counts = await Promise.all([redis.llen(key('wait')), redis.llen(key('active')), redis.zcard(key('delayed'))]);
  return counts.reduce((sum, n) => sum + n, 0);
}
