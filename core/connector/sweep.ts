import { z } from 'zod';
import type { PollPage, Source, SourceEvent } from './contract.ts';
import { jsonBody } from './json-body.ts';

/* A poll at vendors that search by time: one search after the other, a page a call, and again from a little before where the last began. */

/** One search of a sweep. */
export interface SweepSearch {
  /**
   * A page of what happened since `from`; earlier events are left out of it. `after`: the last page's `next`, of the same `from`.
   * `next` undefined: this was the last page.
   */
  page(from: Date, after: string | undefined): Promise<{ events: readonly SourceEvent[]; next: string | undefined }>;
}

interface SweepOptions {
  now: () => Date;
  /** How far behind its own clock the vendor's search may be. */
  overlapMs: number;
  /** Searches may lose something for good: once in a while a sweep goes further back, never to before the first one. */
  deep?: { everyMs: number; backMs: number };
}

const instant = z.iso.datetime().transform((text) => new Date(text));

const Cursor = z.object({
  /** Where the first sweep began: what was before is none of ours. */
  first: instant,
  /** From where this sweep looks, and when it began; null: it has not yet. */
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
    // Who names the same page again would be asked for ever.
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

/** Whole seconds: most vendors tell no less. */
function beginning(since: Date, now: Date): Cursor {
  const first = new Date(Math.floor(since.getTime() / 1_000) * 1_000);
  return { first, since: first, began: null, deepAt: now, search: 0, after: null };
}

const later = (one: Date, other: Date): Date => (one > other ? one : other);
