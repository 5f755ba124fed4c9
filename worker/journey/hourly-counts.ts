import type { RedisClient } from '../redis/client.ts';
import type { Journey } from './journey.ts';

const hourMs = 3_600_000;

/** How long a day's counts are kept, from its last change. */
export const countsKeptMs = 400 * 24 * hourMs;

/** `responses`: how many of the customers who were asked in the hour have answered, whenever the answer came. */
const counted = ['asked', 'answered', 'responses'] as const;
export type Counts = Record<(typeof counted)[number], number>;

interface CountChange {
  day: string;
  field: string;
  by: 1 | -1;
}

/**
 * The counts that a change of a journey changes: by campaign and by the hour, UTC, in which the customer was asked or answered. A
 * request that the service cancelled before sending asked nobody, nor does a test; an erasure leaves the counts as they are.
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
  const askedAt = state === 'cancelled' && !answer ? undefined : created;
  return { asked: askedAt, answered: answer?.seenAt, responses: answer && askedAt };
}

export interface CountedHour {
  campaign: number;
  /** When it begins. */
  at: Date;
}

/** The counts by what a function tells of campaign and hour, from the hour of `from` up to the hour of `until`, without the latter. */
export async function countsBetween<By>(
  redis: RedisClient,
  keyOf: (day: string) => string,
  { from, until }: { from: Date; until: Date },
  by: (hour: CountedHour) => By,
): Promise<Map<By, Counts>> {
  const hoursByDay = new Map<string, Set<string>>();
  for (let at = startOfHour(from); at < startOfHour(until); at += hourMs) {
    const [day, hour] = [dayOf(new Date(at)), hourOf(new Date(at))];
    hoursByDay.set(day, (hoursByDay.get(day) ?? new Set()).add(hour));
  }
  const sums = new Map<By, Counts>();
  const addDay = async ([day, hours]: [string, Set<string>]) => {
    for (const [field, count] of Object.entries(await redis.hgetall(keyOf(day)))) {
      const [written, campaign, hour = ''] = field.split(':');
      const name = counted.find((one) => one === written);
      if (name === undefined || !hours.has(hour)) continue;
      const key = by({ campaign: Number(campaign), at: new Date(`${day}T${hour}:00:00Z`) });
      const sum = sums.get(key) ?? { asked: 0, answered: 0, responses: 0 };
      sums.set(key, { ...sum, [name]: sum[name] + Number(count) });
    }
  };
  await Promise.all([...hoursByDay].map(addDay));
  return sums;
}

export function sumOf(counts: Iterable<Counts>): Counts {
  const all = [...counts];
  const sum = (name: keyof Counts) => all.reduce((total, one) => total + one[name], 0);
  return { asked: sum('asked'), answered: sum('answered'), responses: sum('responses') };
}

function startOfHour(at: Date): number {
  return at.getTime() - (at.getTime() % hourMs);
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function hourOf(at: Date): string {
  return at.toISOString().slice(11, 13);
}
