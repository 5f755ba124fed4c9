import { sumOf } from '../journey/hourly-counts.ts';
import type { Journey } from '../journey/journey.ts';
import type { JourneyStore } from '../journey/store.ts';
import { deliveriesByHour } from '../operations/delivery-counts.ts';
import type { RedisClient } from '../redis/client.ts';
import type { Searched } from '../support/journey-filter.ts';
import { journeyPage } from '../support/journey-pages.ts';
import { instants } from '../support/shown-time.ts';

/** The common text of reasons that differ only in instants, numbers and ids. Pure. */
export function causeOf(why: string): string {
  return why
    .replaceAll(instants, '…')
    .replaceAll(/[\w-]*\d[\w.-]*/g, '…')
    .trim();
}

/** Journeys that stopped for one cause. */
export interface Issue {
  source: string;
  state: 'failed' | 'parked';
  cause: string;
  /** The reason of the last one. */
  why: string;
  count: number;
  /** Between which they stopped. */
  first: Date;
  last: Date;
}

/** The causes that keep journeys from going on, the most frequent first. `isCut`: only the last `most` journeys were read. */
export async function issuesIn(
  sources: readonly Searched[],
  most: number,
): Promise<{ issues: Issue[]; isCut: boolean }> {
  const { found, next } = await journeyPage(sources, { lists: ['failed', 'parked'], size: most, most });
  const groups = Map.groupBy(found, ({ journey: { state, why = '' }, context }) =>
    JSON.stringify([context.name, state, causeOf(why)]),
  );
  const issues = [...groups.values()].flatMap((group) => issueOf(group));
  return { issues: issues.toSorted((a, b) => b.count - a.count), isCut: next !== undefined };
}

/** How many of the last closings were skipped for a reason. */
export interface SkipCount {
  reason: string;
  count: number;
}

/** The most frequent reason first. `of`: how many of the last closings were counted. */
export async function skipsIn(sources: readonly Searched[], most: number): Promise<{ skips: SkipCount[]; of: number }> {
  const { found } = await journeyPage(sources, { lists: ['skipped'], size: most, most });
  const groups = Map.groupBy(found, ({ journey: { reason = '' } }) => reason);
  const skips = [...groups].flatMap(([reason, { length }]) => (reason === '' ? [] : [{ reason, count: length }]));
  return { skips: skips.toSorted((a, b) => b.count - a.count), of: found.length };
}

/** @param group the last changed first */
function issueOf(group: readonly { journey: Journey; context: { name: string } }[]): Issue[] {
  const [newest, oldest] = [group[0], group.at(-1)];
  if (!newest || !oldest) return [];
  const { state, why = '', updatedAt: last } = newest.journey;
  if (state !== 'failed' && state !== 'parked') return [];
  const times = { first: oldest.journey.updatedAt, last };
  return [{ source: newest.context.name, state, cause: causeOf(why), why, count: group.length, ...times }];
}

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
  /** How many journeys failed in this hour and are still failed. */
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
