import { type Counts, sumOf } from '../journey/hourly-counts.ts';
import type { JourneyStore } from '../journey/store.ts';
import { instantsOf, type Period } from './period.ts';

interface Counted {
  store: Pick<JourneyStore, 'queries'>;
}

/** What closeloop's own journeys say of these days, by campaign and over all sources; of the last 400 days. */
export async function storedCounts(
  sources: readonly Counted[],
  period: Period,
  timeZone: string,
): Promise<Map<number, Counts>> {
  const time = instantsOf(period, timeZone);
  const all = await Promise.all(sources.map(({ store }) => store.queries.countsBetween(time)));
  const campaigns = new Set(all.flatMap((one) => [...one.keys()]));
  return new Map([...campaigns].map((id) => [id, sumOf(all.flatMap((one) => one.get(id) ?? []))]));
}
