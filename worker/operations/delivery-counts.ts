import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';

const keptSeconds = 86_400;
const dayMs = 86_400_000;
/** The last 24 hours lie on two days. */
const hoursKeptSeconds = 3 * 86_400;
const Refusal = z.object({ at: z.coerce.date(), why: z.string() });
const lastKeyOf = (source: string): string => `${tagOf(source)}:refused:last`;
const deliveryKeyOf = (source: string): string => `${tagOf(source)}:delivered:last`;
/** A hash: how many deliveries came in each hour of a day, UTC. */
const hoursKeyOf = (source: string, at: Date): string => `${tagOf(source)}:delivered:${at.toISOString().slice(0, 10)}`;
const keyOf = (source: string): string => `${tagOf(source)}:refused`;

const comeAgain = 'told to come again: ';

/** Why a delivery was not stored, which its vendor sends again; any other reason is for good. */
export const putOff = (why: string): string => `${comeAgain}${why}`;
export const isPutOff = (why: string): boolean => why.startsWith(comeAgain);

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

/** Counts stored deliveries of the source, all in the hour of the last delivery. */
export async function noteDeliveries(redis: RedisClient, source: string, at: Date, count: number): Promise<void> {
  const hours = hoursKeyOf(source, at);
  await Promise.all([
    redis.set(deliveryKeyOf(source), at.toISOString()),
    redis.hincrby(hours, at.toISOString().slice(11, 13), count),
    redis.expire(hours, hoursKeptSeconds),
  ]);
}

/** Deliveries that were stored, by the hour in which they came: those of `from` and of the hours after it, up to `until`. */
export async function deliveriesByHour(
  redis: RedisClient,
  source: string,
  { from, until }: { from: Date; until: Date },
): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (let day = Math.floor(from.getTime() / dayMs) * dayMs; day <= until.getTime(); day += dayMs) {
    for (const [hour, count] of Object.entries(await redis.hgetall(hoursKeyOf(source, new Date(day)))))
      counts.set(day + Number(hour) * 3_600_000, Number(count));
  }
  return counts;
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
