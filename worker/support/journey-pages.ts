import type { Journey } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import type { ListName } from '../journey/state-lists.ts';
import type { FoundJourney, Searched } from './journey-filter.ts';

/** The end of a page of journeys: the last journey that was read, and its position in its list. */
export interface Place {
  at: number;
  ref: string;
}

export interface PageOptions {
  lists: readonly ListName[];
  /** Whether a journey belongs to the page; left out: all journeys do. */
  fits?: (journey: Journey) => boolean;
  /** Changed (waiting: due; of answers: answered) at or after this, and before that. */
  since?: Date | undefined;
  until?: Date | undefined;
  after?: Place | undefined;
  /** The journeys of a page. */
  size: number;
  /** Journeys that are looked at for one page, at most. */
  most: number;
}

export interface JourneyPage<In> {
  found: FoundJourney<In>[];
  /** Behind it there is more; undefined: it is the last page. */
  next?: Place;
  /** The search has read as many entries as it may: more that fit may follow. */
  isCut: boolean;
}

/** Journeys that are read at once, unless a page shows more. */
const mostAtOnce = 400;

/**
 * A page of the journeys of all these sources, last changed first (waiting: last due first), however many there are: read from where
 * the page before ended, and no further than `most` journeys.
 */
export async function journeyPage<In extends Searched>(
  sources: readonly In[],
  options: PageOptions,
): Promise<JourneyPage<In>> {
  const { fits = () => true, size, most } = options;
  const found: FoundJourney<In>[] = [];
  let read = 0;
  let last: Place | undefined;
  const full = (isCut: boolean): JourneyPage<In> => ({ found, ...(last && { next: last }), isCut });
  for await (const chunk of chunksOf(placesOf(sources, options), { first: size + 1, total: most + 1 })) {
    const journeys = await journeysAt(chunk);
    for (const { place, id, context } of chunk) {
      if (found.length === size) return full(false);
      if (read++ === most) return full(true);
      last = place;
      const journey = journeys.get(context)?.get(id);
      if (journey && fits(journey)) found.push({ journey, context });
    }
  }
  return { found, isCut: false };
}

interface Entry<In> {
  place: Place;
  id: string;
  context: In;
}

/** The lists of all sources as one, in its order. */
async function* placesOf<In extends Searched>(
  sources: readonly In[],
  { lists: names, since, until, after }: PageOptions,
): AsyncGenerator<Entry<In>> {
  const from = until && (after === undefined || until.getTime() <= after.at) ? { at: until.getTime(), ref: '' } : after;
  const lists = sources.map((context) => entriesOf(context, names, from && within(context.name, from)));
  for await (const entry of merged(lists, (one, other) => isBefore(one.place, other.place))) {
    if (since && entry.place.at < since.getTime()) return;
    yield entry;
  }
}

async function* entriesOf<In extends Searched>(
  context: In,
  names: readonly ListName[],
  from: { at: number; id: string } | undefined,
): AsyncGenerator<Entry<In>> {
  for await (const { at, id } of context.store.queries.latest(names, from))
    yield { place: { at, ref: refOf(context.name, id) }, id, context };
}

/** Merges sorted lists into one sorted list. It reads one entry of each list ahead. */
export async function* merged<T>(
  lists: readonly AsyncGenerator<T, void>[],
  comesFirst: (one: T, other: T) => boolean,
): AsyncGenerator<T> {
  const heads = await Promise.all(lists.map(async (list) => ({ list, head: (await list.next()).value })));
  for (;;) {
    let first: (typeof heads)[number] | undefined;
    for (const one of heads) {
      const [head, best] = [one.head, first?.head];
      if (head !== undefined && (best === undefined || comesFirst(head, best))) first = one;
    }
    if (first?.head === undefined) return;
    yield first.head;
    first.head = (await first.list.next()).value;
  }
}

/**
 * The place in the list of one source. Within an instant names descend: the journeys of a source with a later name are behind the place
 * already.
 */
function within(source: string, { at, ref }: Place): { at: number; id: string } {
  const prefix = refOf(source, '');
  if (ref.startsWith(prefix)) return { at, id: ref.slice(prefix.length) };
  return prefix < ref ? { at: at + 1, id: '' } : { at, id: '' };
}

/** Whether one place comes before another in a list, last changed first. */
export function isBefore(one: Place, other: Place): boolean {
  return one.at === other.at ? one.ref > other.ref : one.at > other.at;
}

/** The first `total`; each chunk twice as large as the one before: where few journeys fit, a page takes few turns all the same. */
async function* chunksOf<T>(
  all: AsyncIterable<T>,
  { first, total }: { first: number; total: number },
): AsyncGenerator<T[]> {
  let [chunk, size, left]: [T[], number, number] = [[], Math.min(first, total), total];
  for await (const one of all) {
    chunk.push(one);
    if (chunk.length < size) continue;
    yield chunk;
    left -= size;
    if (left === 0) return;
    [chunk, size] = [[], Math.min(Math.max(first, 2 * size), Math.max(first, mostAtOnce), left)];
  }
  if (chunk.length > 0) yield chunk;
}

async function journeysAt<In extends Searched>(entries: readonly Entry<In>[]): Promise<Map<In, Map<string, Journey>>> {
  const read = [...Map.groupBy(entries, ({ context }) => context)].map(async ([context, own]) => {
    const journeys = await context.store.those(own.map(({ id }) => id));
    return [context, new Map(journeys.map((journey) => [journey.id, journey]))] as const;
  });
  return new Map(await Promise.all(read));
}
