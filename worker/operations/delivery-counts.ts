import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';

const keptSeconds = 86_400;
const Refusal = z.object({ at: z.coerce.date(), why: z.string() });
const lastKeyOf = (source: string): string => `${tagOf(source)}:refused:last`;
const deliveryKeyOf = (source: string): string => `${tagOf(source)}:delivered:last`;
const keyOf = (source: string): string => `${tagOf(source)}:refused`;

/** Adds to the counts of `refusedOf`. The counts of a source begin anew a day after its first refusal. */
export async function countRefused(redis: RedisClient, source: string, why: string, count: number): Promise<void> {
  await redis.set(lastKeyOf(source), JSON.stringify({ at: new Date(), why }));
  await redis.hincrby(keyOf(source), why, count);
  await redis.expire(keyOf(source), keptSeconds, 'NX');
}

/** Deliveries that the intakes of a source refused within the last day, by reason. */
export async function refusedOf(redis: RedisClient, source: string): Promise<Record<string, number>> {
  const counts = await redis.hgetall(keyOf(source));
  return Object.fromEntries(Object.entries(counts).map(([why, count]) => [why, Number(count)]));
}

/** A delivery of the source was stored. */
export async function noteDelivery(redis: RedisClient, source: string, at: Date): Promise<void> {
  await redis.set(deliveryKeyOf(source), at.toISOString());
}

/** When the last delivery was stored, and when and why the last delivery was refused. Under load up to a minute behind. */
export async function lastDeliveries(
  redis: RedisClient,
  source: string,
): Promise<{ lastDelivery?: Date; lastRefusal?: z.output<typeof Refusal> }> {
  const [stored, refused] = await redis.mget(deliveryKeyOf(source), lastKeyOf(source));
  return {
    ...(stored && { lastDelivery: new Date(stored) }),
    ...(refused && { lastRefusal: Refusal.parse(JSON.parse(refused)) }),
  };
}
