import { type Counts, countsKeptMs } from '../journey/hourly-counts.ts';
import { sumOf } from '../journey/hourly-sums.ts';
import type { JourneyStore } from '../journey/store.ts';
import { instantsOf, type Period } from './period.ts';

const dayMs = 86_400_000;

interface Counted {
  store: Pick<JourneyStore, 'queries'>;
}

/** What closeloop's own journeys say of these days, by campaign and over all sources; of the last 400 days. */
export async function storedCounts(
  sources: readonly Counted[],
  period: Period,
  { timeZone, now }: { timeZone: string; now: Date },
): Promise<Map<number, Counts>> {
  const time = timeOf(period, { timeZone, now });
  const all = await Promise.all(sources.map(({ store }) => store.queries.countsBetween(time)));
  const campaigns = new Set(all.flatMap((one) => [...one.keys()]));
  return new Map([...campaigns].map((id) => [id, sumOf(all.flatMap((one) => one.get(id) ?? []))]));
}

/** Of those who were asked in an hour of the day, how many have answered. */
export interface HourOfDay extends Pick<Counts, 'asked' | 'responses'> {
  /** 0 to 23, on the account's clock. */
  hour: number;
}

/** By the hour of the day in which customers were asked, on the account's clock; hours in which nobody was are left out. */
export async function responsesByHour(
  sources: readonly Counted[],
  period: Period,
  { timeZone, now, campaign }: { timeZone: string; now: Date; campaign?: number | undefined },
): Promise<HourOfDay[]> {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', hourCycle: 'h23' });
  const wanted = { hourOf: (at: Date) => Number(format.format(at)), campaign };
  const time = timeOf(period, { timeZone, now });
  const all = await Promise.all(sources.map(({ store }) => store.queries.countsByHour(time, wanted)));
  return Array.from({ length: 24 }, (_, hour) => ({ hour, ...sumOf(all.flatMap((one) => one.get(hour) ?? [])) }))
    .filter(({ asked }) => asked > 0)
    .map(({ hour, asked, responses }) => ({ hour, asked, responses }));
}

/** Counts are stored for these days only, and a period may name any day: every hour of a period is read. */
function timeOf(period: Period, { timeZone, now }: { timeZone: string; now: Date }): { from: Date; until: Date } {
  const { from, until } = instantsOf(period, timeZone);
  const [earliest, latest] = [now.getTime() - 2 * countsKeptMs, now.getTime() + dayMs];
  return {
    from: new Date(Math.max(from.getTime(), earliest)),
    until: new Date(Math.min(until.getTime(), latest)),
  };
}
