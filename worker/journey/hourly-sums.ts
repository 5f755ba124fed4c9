import type { RedisClient } from '../redis/client.ts';
import { type Counts, counted, dayMs, dayOf, hourMs } from './hourly-counts.ts';

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
