import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';

const keptSeconds = 86_400;
const keyOf = (source: string): string => `${tagOf(source)}:refused`;

/** Adds to what `refusedOf` shows. A count begins anew a day after its first refusal. */
export async function countRefused(redis: RedisClient, source: string, why: string, count: number): Promise<void> {
  await redis.hincrby(keyOf(source), why, count);
  await redis.expire(keyOf(source), keptSeconds, 'NX');
}

/** Deliveries that the intakes of a source refused within the last day, by reason. */
export async function refusedOf(redis: RedisClient, source: string): Promise<Record<string, number>> {
  const counts = await redis.hgetall(keyOf(source));
  return Object.fromEntries(Object.entries(counts).map(([why, count]) => [why, Number(count)]));
}
