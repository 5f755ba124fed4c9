import { z } from 'zod';
import { CloseloopError } from '../../errors.ts';
import type { PollPage, RecordEvent, Source } from '../contract.ts';

/*
 * A poll of a vendor whose search takes instants and ids. Each search begins at the last instant seen, not at a count of results: a row
 * that changes meanwhile moves to the end and would shift those behind it out of sight. No search goes past its first page, so none
 * meets a limit of results, however many rows one import has given the same instant.
 */

/** A row of a search: its id, and the instant of its last change in epoch ms. */
interface FoundRow {
  id: string;
  at: number;
}

/** The searches of one kind of records. */
export interface ChangeSearch<Row extends FoundRow> {
  /** The most rows that one search gives. */
  size: number;
  /**
   * The rows that changed at `from` (epoch ms) or later, by the time of their change; with `above` those of the very instant `from`
   * whose ids are above it, by id.
   */
  search(from: number, above: string | undefined): Promise<readonly Row[]>;
  /** The events of rows, of one at least. @param early before this a closing is none that this sweep could have missed */
  events(rows: readonly Row[], early: number): Promise<readonly RecordEvent[]>;
}

interface SearchOptions {
  /** In messages. */
  vendor: string;
  now: () => Date;
  /** How far the vendor's index may lag: every sweep overlaps the last one. */
  overlapMs: number;
  /** A record that closed longer before its change was only edited. */
  staleMs: number;
}

const Ms = z.int().nonnegative();

/** The progress of a sweep of one kind of records. Instants are epoch ms. */
const Place = z.object({
  /** All changes before this have been read. */
  from: Ms,
  /** Where this sweep began. */
  begun: Ms,
  /** Set while more rows than one page have the very same instant: the last id seen of those. */
  tie: z.string().regex(/^\d+$/).optional(),
  /** Nothing more in this sweep. */
  done: z.boolean().optional(),
});
type Place = z.output<typeof Place>;

/** `since`: the begin of the first sweep; earlier closings never count. */
const Cursor = z.object({ since: Ms, places: z.record(z.string(), Place) });
type Cursor = z.output<typeof Cursor>;

/** One poll of several kinds of records, each with a search at a time. @param kinds by name */
export function pollSearches<Row extends FoundRow>(
  kinds: Readonly<Record<string, ChangeSearch<Row>>>,
  { vendor, now, overlapMs, staleMs }: SearchOptions,
): NonNullable<Source['poll']> {
  return async (from): Promise<PollPage> => {
    const { since, places } =
      'since' in from ? { since: from.since.getTime(), places: {} } : parsed(from.cursor, vendor);
    const isNew = Object.keys(kinds).every((kind) => places[kind]?.done ?? false);
    const swept = await Promise.all(
      Object.entries(kinds).map(async ([kind, { size, search, events }]) => {
        const place = placeOf(kind, { since, places }, isNew);
        if (place.done) return { kind, place, events: [] };
        const end = now().getTime() - overlapMs;
        const rows = await search(place.from, place.tie);
        const next = afterPage(place, rows, { size, end: Math.max(since, place.begun, end) });
        const early = Math.max(since, place.begun - staleMs);
        return { kind, place: next, events: rows.length === 0 ? [] : await events(rows, early) };
      }),
    );
    const done = swept.every(({ place }) => place.done ?? false);
    const reached = Object.fromEntries(swept.map(({ kind, place }) => [kind, place]));
    return {
      events: swept.flatMap(({ events }) => events),
      cursor: JSON.stringify({ since, places: { ...places, ...reached } }),
      done,
      reached: done ? now() : new Date(Math.min(...swept.map(({ place }) => place.from))),
    };
  };
}

/** @throws CloseloopError config for an unreadable cursor */
function parsed(cursor: string, vendor: string): Cursor {
  try {
    return Cursor.parse(JSON.parse(cursor));
  } catch (cause) {
    const remedy = 'remove it, and run backfill for the time since the last poll';
    const message = `${vendor}: the stored cursor of the poll is not readable: ${remedy}`;
    throw new CloseloopError(message, { kind: 'config' }, { outcome: 'never-sent', cause });
  }
}

/** The progress of a kind at the begin of a poll: of the present sweep, or of a new one. One that joins later begins where others are. */
function placeOf(kind: string, { since, places }: Cursor, isNew: boolean): Place {
  const start = Math.max(since, ...Object.values(places).map(({ begun }) => begun));
  const { from, begun, ...progress } = places[kind] ?? { from: start, begun: start };
  return isNew ? { from, begun: from } : { from, begun, ...progress };
}

/** Where a page leads: to the last instant on it; when all of it is one instant, through that one's rows by id. */
function afterPage(
  { from, begun, tie }: Place,
  page: readonly FoundRow[],
  { size, end }: { size: number; end: number },
): Place {
  const last = page.at(-1);
  if (last !== undefined && page.length >= size) {
    if (tie !== undefined) return { from, begun, tie: last.id };
    return last.at > from ? { from: last.at, begun } : { from, begun, tie: '0' };
  }
  return tie !== undefined ? { from: from + 1, begun } : { from: end, begun, done: true };
}
