import type { RedisClient } from '../redis/client.ts';
import { type Counts, counted, dayOf, hourMs, hourOf } from './hourly-counts.ts';

interface Hour {
  campaign: number;
  /** When it begins. */
  at: Date;
}

/** The counts by what a function tells of campaign and hour, from the hour of `from` up to the hour of `until`, without the latter. */
export async function countsBetween<By>(
  redis: RedisClient,
  keyOf: (day: string) => string,
  { from, until }: { from: Date; until: Date },
  by: (hour: Hour) => By,
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
