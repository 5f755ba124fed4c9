import type { RedisClient } from '../redis/client.ts';
import type { Journey } from './journey.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** How long a day's counts are kept, from its last change. */
export const countsKeptMs = 400 * dayMs;
/** `responses`: how many of the customers who were asked in the hour have answered, whenever the answer came. */
export const counted = ['asked', 'answered', 'responses'] as const;

export type Counts = Record<(typeof counted)[number], number>;

interface CountChange {
  day: string;
  field: string;
  by: 1 | -1;
}

/**
 * The counts that a change of a journey changes: by campaign and by the hour, UTC, in which the customer was asked or answered. A
 * request that the service cancelled before sending asked nobody, nor does a test or a dry run; an erasure leaves the counts as they are.
 */
export function countChanges(before: Journey, after: Journey): CountChange[] {
  if (after.erasedAt) return [];
  const [then, now] = [happenedTo(before), happenedTo(after)];
  return counted.flatMap((name) => {
    const [was, is] = [then[name], now[name]];
    if ((was === undefined) === (is === undefined)) return [];
    const at = is ?? was ?? after.updatedAt;
    const field = `${name}:${after.campaign ?? before.campaign ?? ''}:${hourOf(at)}`;
    return [{ day: dayOf(at), field, by: is ? (1 as const) : (-1 as const) }];
  });
}

function happenedTo({ state, askedAt: created, answer, test }: Journey): Record<keyof Counts, Date | undefined> {
  if (test) return { asked: undefined, answered: undefined, responses: undefined };
  const askedAt = state === 'withheld' || (state === 'cancelled' && !answer) ? undefined : created;
  return { asked: askedAt, answered: answer?.seenAt, responses: answer && askedAt };
}

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function hourOf(at: Date): string {
  return at.toISOString().slice(11, 13);
}

export interface HourCounts extends Counts {
  campaign: number;
  /** When the hour begins: milliseconds since 1970. */
  at: number;
}

/** The counts from the hour of `from` up to the hour of `until`, without the latter. */
export async function countsBetween(
  redis: RedisClient,
  keyOf: (day: string) => string,
  { from, until }: { from: Date; until: Date },
): Promise<HourCounts[]> {
  const [begin, end] = [startOf(from, hourMs), startOf(until, hourMs)];
  const ofDay = async (day: number): Promise<HourCounts[]> => {
    const hours = new Map<string, HourCounts>();
    for (const [field, count] of Object.entries(await redis.hgetall(keyOf(dayOf(new Date(day)))))) {
      const [written, campaign, hour] = field.split(':');
      const name = counted.find((one) => one === written);
      const at = day + Number(hour) * hourMs;
      if (name === undefined || !(at >= begin && at < end)) continue;
      const key = `${campaign}:${hour}`;
      const one = hours.get(key) ?? { campaign: Number(campaign), at, asked: 0, answered: 0, responses: 0 };
      one[name] += Number(count);
      hours.set(key, one);
    }
    return [...hours.values()];
  };
  const days: number[] = [];
  for (let day = startOf(from, dayMs); day < end; day += dayMs) days.push(day);
  return (await Promise.all(days.map(ofDay))).flat();
}

export function sumOf(counts: Iterable<Counts>): Counts {
  const all = [...counts];
  const sum = (name: keyof Counts) => all.reduce((total, one) => total + one[name], 0);
  return { asked: sum('asked'), answered: sum('answered'), responses: sum('responses') };
}

function startOf(at: Date, unitMs: number): number {
  return at.getTime() - (at.getTime() % unitMs);
}
