import type { RedisClient } from '../redis/client.ts';
import type { Journey } from './journey.ts';

const hourMs = 3_600_000;

/** How long a day's counts are kept, from its last change. */
export const countsKeptMs = 35 * 24 * hourMs;

/** `responses`: answered ones of those who were asked in the hour, whenever the answer came. */
const counted = ['asked', 'answered', 'responses'] as const;
export type Counts = Record<(typeof counted)[number], number>;

interface CountChange {
  day: string;
  field: string;
  by: 1 | -1;
}

/**
 * Which counts a change of a journey changes: by the hour, UTC, that the customer was asked or answered in. A request that the
 * service cancelled before sending asked nobody; an erasure leaves the counts as they are.
 */
export function countChanges(before: Journey, after: Journey): CountChange[] {
  if (after.erasedAt) return [];
  const [then, now] = [happenedTo(before), happenedTo(after)];
  return counted.flatMap((name) => {
    const [was, is] = [then[name], now[name]];
    if ((was === undefined) === (is === undefined)) return [];
    const at = is ?? was ?? after.updatedAt;
    return [{ day: dayOf(at), field: fieldOf(name, at), by: is ? (1 as const) : (-1 as const) }];
  });
}

function happenedTo({ state, askedAt: created, answer }: Journey): Record<keyof Counts, Date | undefined> {
  const askedAt = state === 'cancelled' && !answer ? undefined : created;
  return { asked: askedAt, answered: answer?.seenAt, responses: answer && askedAt };
}

/** Sums of the hours from the one that `from` lies in up to the one that `until` lies in, that one left out. */
export async function countsBetween(
  redis: RedisClient,
  keyOf: (day: string) => string,
  { from, until }: { from: Date; until: Date },
): Promise<Counts> {
  const hours: Date[] = [];
  for (let at = startOfHour(from); at < startOfHour(until); at += hourMs) hours.push(new Date(at));
  const days = new Map(
    await Promise.all(
      [...new Set(hours.map(dayOf))].map(async (day) => [day, await redis.hgetall(keyOf(day))] as const),
    ),
  );
  const sum = (name: keyof Counts) =>
    hours.reduce((total, at) => total + Number(days.get(dayOf(at))?.[fieldOf(name, at)] ?? 0), 0);
  return { asked: sum('asked'), answered: sum('answered'), responses: sum('responses') };
}

function startOfHour(at: Date): number {
  return at.getTime() - (at.getTime() % hourMs);
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function fieldOf(name: keyof Counts, at: Date): string {
  return `${name}:${at.toISOString().slice(11, 13)}`;
}
