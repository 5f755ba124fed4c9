import { z } from 'zod';
import { CloseloopError } from '../../errors.ts';
import type { PollPage, RecordEvent, Source } from '../contract.ts';

/*
 * A poll of a vendor whose search takes instants and ids. Each search begins at the last instant seen, and not at a count of results: a row
 * that changes meanwhile moves to the end of the list, and with counts the rows behind it would be missed. Every search reads only its first
 * page, so no limit of results matters, however many rows one import has given the same instant.
 */

/** A row of a search: its id, and the instant of its last change in epoch ms. */
interface FoundRow {
  id: string;
  at: number;
}

/** The searches of one kind of records. */
export interface ChangeSearch<Row extends FoundRow> {
  /** The most rows that one search returns. */
  size: number;
  /**
   * The rows that changed at `from` (epoch ms) or later, in order of their change. With `above`: the rows that changed exactly at `from` and
   * whose ids are above `above`, in order of their ids.
   */
  search(from: number, above: string | undefined): Promise<readonly Row[]>;
  /** The events of the rows, at least one. @param early closings before this instant are old: this sweep can't have missed them */
  events(rows: readonly Row[], early: number): Promise<readonly RecordEvent[]>;
}

interface SearchOptions {
  /** The vendor's name in messages. */
  vendor: string;
  now: () => Date;
  /** How far the vendor's index may lag: every sweep overlaps the last sweep by this. */
  overlapMs: number;
  /** A record that closed longer than this before its change was only edited. */
  staleMs: number;
}

const Ms = z.int().nonnegative();

/** The progress of a sweep of one kind of records. Instants are epoch ms. */
const Place = z.object({
  /** All changes before this have been read. */
  from: Ms,
  /** Where this sweep began. */
  begun: Ms,
  /** Set while more rows than fit on one page changed at the same instant: the last id seen among these rows. */
  tie: z.string().regex(/^\d+$/).optional(),
  /** Whether this sweep is complete for this kind. */
  done: z.boolean().optional(),
});
type Place = z.output<typeof Place>;

/** `since`: the begin of the first sweep; closings before it never count. */
const Cursor = z.object({ since: Ms, places: z.record(z.string(), Place) });
type Cursor = z.output<typeof Cursor>;

/** Polls several kinds of records, with one search of each kind per call. @param kinds by name */
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

/**
 * The progress of a kind at the begin of a poll, in the present sweep or in a new sweep. A kind that joins later begins at the other kinds'
 * progress.
 */
function placeOf(kind: string, { since, places }: Cursor, isNew: boolean): Place {
  const start = Math.max(since, ...Object.values(places).map(({ begun }) => begun));
  const { from, begun, ...progress } = places[kind] ?? { from: start, begun: start };
  return isNew ? { from, begun: from } : { from, begun, ...progress };
}

/** The progress after a page: at the last instant on the page; if all its rows have the same instant, through the rows of that instant by id. */
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
