import { z } from 'zod';
import type { PollPage, Source, SourceEvent } from './contract.ts';
import { jsonBody } from './json-body.ts';

/*
 * A poll of a vendor that searches by time. A sweep runs its searches one after the other, one page per call; the next sweep covers the time
 * from shortly before the begin of the last sweep.
 */

/** One search of a sweep. */
export interface SweepSearch {
  /**
   * Reads a page of the events since `from`; the sweep drops earlier events. `after` is the `next` of the previous page with the same `from`.
   * An undefined `next` marks the last page.
   */
  page(from: Date, after: string | undefined): Promise<{ events: readonly SourceEvent[]; next: string | undefined }>;
}

interface SweepOptions {
  now: () => Date;
  /** How far the vendor's search index may lag. */
  overlapMs: number;
  /** For an index that may miss changes for good: every `everyMs` a sweep begins `backMs` earlier, but never before the first sweep's begin. */
  deep?: { everyMs: number; backMs: number };
}

const instant = z.iso.datetime().transform((text) => new Date(text));

const Cursor = z.object({
  /** The begin of the first sweep: earlier events do not count. */
  first: instant,
  /** The begin of the time that this sweep covers, and when the sweep began; null before its first page. */
  since: instant,
  began: instant.nullable(),
  deepAt: instant,
  search: z.int().nonnegative(),
  after: z.string().nullable(),
});
type Cursor = z.output<typeof Cursor>;

export function createSweep(searches: readonly SweepSearch[], options: SweepOptions): NonNullable<Source['poll']> {
  const { now, overlapMs, deep } = options;
  return async (from): Promise<PollPage> => {
    const cursor = 'cursor' in from ? Cursor.parse(jsonBody(from.cursor)) : beginning(from.since, now());
    const began = cursor.began ?? now();
    const isDeep = deep !== undefined && began.getTime() - cursor.deepAt.getTime() >= deep.everyMs;
    const start = isDeep ? later(cursor.first, new Date(began.getTime() - deep.backMs)) : cursor.since;
    const found = await searches[cursor.search]?.page(start, cursor.after ?? undefined);
    const events = (found?.events ?? []).filter(({ at }) => at >= start).sort((a, b) => Number(a.at) - Number(b.at));
    // A page that names itself as the next page counts as the last page, or the sweep would never end.
    const next = found?.next === cursor.after ? undefined : found?.next;
    const goesOn: Partial<Cursor> | undefined =
      next !== undefined
        ? { after: next }
        : cursor.search + 1 < searches.length
          ? { search: cursor.search + 1, after: null }
          : undefined;
    if (goesOn) {
      return { events, cursor: JSON.stringify({ ...cursor, began, ...goesOn }), done: false, reached: cursor.since };
    }
    const since = later(cursor.since, new Date(began.getTime() - overlapMs));
    const deepAt = isDeep ? began : cursor.deepAt;
    const over: Cursor = { first: cursor.first, since, began: null, deepAt, search: 0, after: null };
    return { events, cursor: JSON.stringify(over), done: true, reached: began };
  };
}

/** The first cursor. The instant is rounded down to seconds, the resolution of most vendors. */
function beginning(since: Date, now: Date): Cursor {
  const first = new Date(Math.floor(since.getTime() / 1_000) * 1_000);
  return { first, since: first, began: null, deepAt: now, search: 0, after: null };
}

const later = (one: Date, other: Date): Date => (one > other ? one : other);
