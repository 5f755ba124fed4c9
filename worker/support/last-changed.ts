import { journeyStates } from '../journey/journey.ts';
import { type FoundJourney, fitting, instantsOf, type JourneyFilter, type Searched, select } from './journey-filter.ts';
import { journeyPage } from './journey-pages.ts';

/** Journeys that are looked at for a list, beside those that fit. */
const most = 250;

export interface LastChanged<In> {
  found: FoundJourney<In>[];
  /** Set if the search did not reach the end: it left out journeys that changed (waiting: are due) before this instant. Whole seconds, as people see times. */
  readBackTo?: Date;
}

/** The last changed journeys of all these sources that fit, however many there are. */
export async function lastChanged<In extends Searched>(
  sources: readonly In[],
  filter: JourneyFilter,
  limit: number,
): Promise<LastChanged<In>> {
  const newest = (found: FoundJourney<In>[]) =>
    found.sort((a, b) => b.journey.updatedAt.getTime() - a.journey.updatedAt.getTime()).slice(0, limit);
  const [first] = sources;
  if (first === undefined) return { found: [] };
  if (filter.record !== undefined || filter.contact !== undefined) {
    const found: FoundJourney<In>[] = [];
    for await (const one of select(sources, filter)) found.push(one);
    return { found: newest(found) };
  }
  const period = await instantsOf(filter, first);
  const fits = fitting(filter, first, period);
  const states = filter.state === undefined ? journeyStates : [filter.state];
  // When those that wait are due says nothing about when they were changed.
  const lists = [
    { lists: states.filter((state) => state !== 'waiting'), since: period.since },
    { lists: states.filter((state) => state === 'waiting') },
  ];
  const pages = await Promise.all(
    lists.map((list) => journeyPage(sources, { ...list, fits, until: period.until, size: limit, most: limit + most })),
  );
  const cutAt = pages.flatMap(({ isCut, next }) => (isCut && next ? [next.at] : []));
  return {
    found: newest(pages.flatMap(({ found }) => found)),
    ...(cutAt.length > 0 && { readBackTo: new Date((Math.floor(Math.max(...cutAt) / 1_000) + 1) * 1_000) }),
  };
}
