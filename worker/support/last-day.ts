import { sumOf } from '../journey/hourly-counts.ts';
import type { JourneyStore } from '../journey/store.ts';
import { deliveriesByHour } from '../operations/delivery-counts.ts';
import type { RedisClient } from '../redis/client.ts';

const hourMs = 3_600_000;
const hours = 24;

/** What happened in an hour, over all sources. */
export interface HourOfWork {
  /** When it begins. */
  at: Date;
  /** Deliveries that were taken. */
  deliveries: number;
  /** Customers who were asked. */
  asked: number;
  /** Journeys that failed in the hour and were not mended since. */
  failed: number;
}

interface Counted {
  storedAs: string;
  store: Pick<JourneyStore, 'queries' | 'lists'>;
}

/** The last 24 hours, the present one included, earliest first. */
export async function lastDay(
  sources: readonly Counted[],
  { redis, now }: { redis: RedisClient; now: Date },
): Promise<HourOfWork[]> {
  const present = Math.floor(now.getTime() / hourMs) * hourMs;
  const begins = Array.from({ length: hours }, (_, i) => present - (hours - 1 - i) * hourMs);
  const all = await Promise.all(sources.map((source) => countsOf(source, begins, redis)));
  return begins.map((at, i) => {
    const sum = (of: (one: (typeof all)[number]) => number | undefined) =>
      all.reduce((total, one) => total + (of(one) ?? 0), 0);
    return {
      at: new Date(at),
      deliveries: sum(({ deliveries }) => deliveries.get(at)),
      asked: sum(({ asked }) => sumOf(asked.get(at) ?? []).asked),
      failed: sum(({ failed }) => failed[i]),
    };
  });
}

async function countsOf({ storedAs, store }: Counted, begins: readonly number[], redis: RedisClient) {
  const time = { from: new Date(begins[0] ?? 0), until: new Date((begins.at(-1) ?? 0) + hourMs) };
  const [deliveries, asked, failed] = await Promise.all([
    deliveriesByHour(redis, storedAs, time),
    store.queries.countsBetween(time),
    Promise.all(
      begins.map((at) => store.lists.countIn('failed', { from: new Date(at), until: new Date(at + hourMs) })),
    ),
  ]);
  return { deliveries, asked: Map.groupBy(asked, ({ at }) => at), failed };
}
