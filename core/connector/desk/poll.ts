import { z } from 'zod';
import type { PollPage, RecordEvent, RecordState, Source, SourceEvent } from '../contract.ts';
import { jsonBody } from '../json-body.ts';
import type { RowReading } from './rows.ts';

/*
 * A poll of a vendor that lists records by the time of their last change, oldest first. Rows move between pages while the poll reads, so the
 * poll moves its window instead: each call lists from the last row's time. It reads a second page only where more rows share one second than
 * fit on a page.
 */

type Poll = NonNullable<Source['poll']>;

export interface PolledPage<Row> {
  /** Ordered by the time of their last change, oldest first. */
  rows: readonly Row[];
  /** Whether further rows may follow. */
  isFull: boolean;
  /** The vendor's time, where the response has it. Default: this machine's time before the call. */
  at?: Date;
}

export interface ChangeWindow<Row> {
  /** Lists the rows that changed at or after `from`, with the urgency `background`. @param page the page's number, from 1 */
  page(from: Date, page: number): Promise<PolledPage<Row>>;
  /** When a row changed last. */
  changedAt(row: Row): Date | undefined;
  /**
   * The events of a row. Events before the begin of the poll are dropped: their records were only saved again.
   * @param run the begin of the poll, and the vendor's time
   */
  events(row: Row, run: { since: Date; at: Date }): readonly SourceEvent[];
  /**
   * Called at the end of a run, for example to check the webhooks. Not called where the very first page is also the last, because `check`
   * reads that page too. Returns JSON, which the cursor stores for the next call. @param kept what the last call returned; undefined at first
   */
  atEnd?(kept: unknown, at: Date): Promise<unknown>;
  /** How long a changed record may be missing from the vendor's list. Default two minutes. */
  overlapMs?: number;
  /** Set where the vendor promises no order: then the poll reads all pages of the list. */
  isUnordered?: boolean;
}

const instant = z.iso.datetime().transform((text) => new Date(text));

const Cursor = z.object({
  v: z.literal(1),
  /** The poll still has to read the rows that changed at or after this instant. */
  from: instant,
  page: z.int().min(1),
  /** The begin of this run's time. */
  since: instant,
  /** Set while the poll goes back to the first page of one second: where the poll goes on from there. */
  then: z.object({ from: instant, since: instant, ended: instant.nullable() }).nullable(),
  kept: z.unknown().optional(),
});
type Cursor = z.output<typeof Cursor>;

const stepMs = 1_000;

export function pollWindow<Row>(
  { page, changedAt, events, atEnd, overlapMs = 120_000, isUnordered = false }: ChangeWindow<Row>,
  { now }: { now: () => Date },
): Poll {
  return async (from): Promise<PollPage> => {
    const cursor = 'cursor' in from ? Cursor.parse(jsonBody(from.cursor)) : beginning(from.since);
    const asked = now();
    const { rows, isFull, at = asked } = await page(cursor.from, cursor.page);
    const run = { since: cursor.since, at };
    const found = rows.flatMap((row) => events(row, run)).filter((event) => event.at >= cursor.since);
    const last = rows.reduce((latest, row) => later(latest, changedAt(row)), cursor.from);
    const { next, ended } = goOn(cursor, { isFull, last, at, overlapMs, isUnordered });
    const reached = ended ?? (isUnordered ? cursor.from : last);
    const isLater = 'cursor' in from && ended !== null;
    const kept = isLater && atEnd !== undefined ? await atEnd(cursor.kept, at) : cursor.kept;
    return { events: found, cursor: JSON.stringify({ ...next, kept }), done: ended !== null, reached };
  };
}

/**
 * The `many` of a vendor that can't read several records by their ids: lists what has changed since the oldest closing, as long as that needs
 * fewer calls than reading each record.
 */
export function listedSince<Row extends { id: string }>({
  page,
  changedAt,
  overlapMs = 120_000,
}: Pick<ChangeWindow<Row>, 'page' | 'changedAt' | 'overlapMs'>): NonNullable<RowReading<Row>['many']> {
  return async (ids, since) => {
    const found = new Map<string, Row>();
    if (since === undefined) return found;
    let next = { from: new Date(since.getTime() - overlapMs), number: 1 };
    for (let left = Math.floor(ids.length / 2); left > 0 && found.size < ids.length; left--) {
      const { rows, isFull } = await page(next.from, next.number);
      for (const row of rows) if (ids.includes(row.id)) found.set(row.id, row);
      const last = rows.reduce((latest, row) => later(latest, changedAt(row)), next.from);
      if (!isFull) break;
      // Rows move while the list is read, so a further page is read only within one instant.
      next = last > next.from ? { from: last, number: 1 } : { from: last, number: next.number + 1 };
    }
    return found;
  };
}

/** The event of a polled record: its closing, with the same key at every poll. */
export function closingOf(recordId: string, state: RecordState): RecordEvent[] {
  if (state.is !== 'closed') return [];
  const { closing, closedAt: at } = state;
  return [{ kind: 'closed', recordId, closing, at, key: `${recordId}|${closing}`, what: 'found closed by a poll' }];
}

/** The first cursor. The instant is rounded down to seconds, the resolution of most vendors. */
function beginning(since: Date): Cursor {
  const second = new Date(Math.floor(since.getTime() / stepMs) * stepMs);
  return { v: 1, from: second, page: 1, since: second, then: null };
}

interface Listed {
  isFull: boolean;
  /** The last change on the page. */
  last: Date;
  at: Date;
  overlapMs: number;
  isUnordered: boolean;
}

/**
 * The next page to list. `ended`: the instant up to which this run has read everything. Further pages of one second are read twice, from the
 * first to the last and back: a row that changes meanwhile leaves this second, and the rows behind it move up to a page that was read already.
 */
function goOn(
  cursor: Cursor,
  { isFull, last, at, overlapMs, isUnordered }: Listed,
): { next: Cursor; ended: Date | null } {
  const { page, since, then } = cursor;
  if (then === null && isFull) {
    // The next page begins one second earlier, as further rows may have changed in that second. Where this would make no progress, the poll reads the
    // next page of the same window.
    const from = new Date(last.getTime() - stepMs);
    if (isUnordered || from <= cursor.from) return { next: { ...cursor, page: page + 1 }, ended: null };
    if (page === 1) return { next: { ...cursor, from }, ended: null };
    return { next: { ...cursor, page: page - 1, then: { from, since, ended: null } }, ended: null };
  }
  const start = (of: Date): Date => nextStart(of, at, overlapMs);
  const over = then ?? { from: start(cursor.from), since: start(since), ended: at };
  if (page > 1) return { next: { ...cursor, page: page - 1, then: over }, ended: null };
  return { next: { v: 1, page: 1, from: over.from, since: over.since, then: null }, ended: over.ended };
}

/** The begin of the next run, never before the last run's begin unless the vendor's clock was set back. */
function nextStart(last: Date, at: Date, overlapMs: number): Date {
  return at < last ? at : new Date(Math.max(last.getTime(), at.getTime() - overlapMs));
}

const later = (one: Date, other: Date | undefined): Date => (other !== undefined && other > one ? other : one);

const Turns = z.object({
  v: z.literal(1),
  /** The poll whose turn it is. */
  turn: z.int().nonnegative(),
  /** The begin of a poll that has no cursor yet. */
  since: instant,
  cursors: z.array(z.string().nullable()),
  /** The earliest instant that a poll of this run has reached. */
  reached: instant.nullable(),
});

/** Combines several polls: each runs to its end before the next begins. */
export function pollInTurn(polls: readonly Poll[]): Poll {
  return async (from): Promise<PollPage> => {
    const run: z.output<typeof Turns> =
      'cursor' in from
        ? Turns.parse(jsonBody(from.cursor))
        : { v: 1, turn: 0, since: from.since, cursors: polls.map(() => null), reached: null };
    const { turn, since, cursors } = run;
    const cursor = cursors[turn];
    const page = await polls[turn]?.(typeof cursor === 'string' ? { cursor } : { since });
    if (page === undefined) throw new TypeError('the cursor is of other polls');
    const reached = run.reached !== null && run.reached < page.reached ? run.reached : page.reached;
    const isLast = turn + 1 >= polls.length;
    const next = page.done ? { turn: isLast ? 0 : turn + 1, reached: isLast ? null : reached } : { turn };
    const saved = { ...run, ...next, cursors: cursors.with(turn, page.cursor) };
    return { events: page.events, cursor: JSON.stringify(saved), done: page.done && isLast, reached };
  };
}
