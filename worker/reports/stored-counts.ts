import { type Counts, countsKeptMs, sumOf } from '../journey/hourly-counts.ts';
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
  const { from, until } = instantsOf(period, timeZone);
  // Counts are stored for these days only, and a period may name any day: every hour of a period is read.
  const [earliest, latest] = [now.getTime() - 2 * countsKeptMs, now.getTime() + dayMs];
  const time = {
    from: new Date(Math.max(from.getTime(), earliest)),
    until: new Date(Math.min(until.getTime(), latest)),
  };
  const all = await Promise.all(sources.map(({ store }) => store.queries.countsBetween(time)));
  const campaigns = new Set(all.flatMap((one) => [...one.keys()]));
  return new Map([...campaigns].map((id) => [id, sumOf(all.flatMap((one) => one.get(id) ?? []))]));
}
