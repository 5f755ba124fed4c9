import { z } from 'zod';
import type { PollPage, Source, SourceEvent } from '../contract.ts';
import { jsonBody } from '../json-body.ts';

/*
 * A poll of a vendor that lists records by the time of their last change, oldest first. Rows move while one pages, so the poll
 * moves its window instead: each call lists from the last row's time. It turns a page only where more rows share one second than a page holds.
 */

export interface PolledPage<Row> {
  /** In the order of their change. */
  rows: readonly Row[];
  /** Whether further rows may follow. */
  isFull: boolean;
  /** The time at the vendor, where the response tells. Default: this machine's, before the call. */
  at?: Date;
}

export interface ChangeWindow<Row> {
  /** Lists the rows that changed at or after `from`, with the urgency `background`. @param page from 1 */
  page(from: Date, page: number): Promise<PolledPage<Row>>;
  /** When a row changed last. */
  changedAt(row: Row): Date | undefined;
  /** Those of a row. Events of before the poll's own begin are dropped: their records were only saved again. */
  events(row: Row): readonly SourceEvent[];
  /** How far the vendor's list may lag behind. Default two minutes. */
  overlapMs?: number;
}

const instant = z.iso.datetime().transform((text) => new Date(text));

const Cursor = z.object({
  v: z.literal(1),
  /** Rows that changed at or after this instant are still to be read. */
  from: instant,
  page: z.int().min(1),
  /** The begin of this run's time. */
  since: instant,
});
type Cursor = z.output<typeof Cursor>;

const stepMs = 1_000;

export function pollWindow<Row>(
  { page, changedAt, events, overlapMs = 120_000 }: ChangeWindow<Row>,
  { now }: { now: () => Date },
): NonNullable<Source['poll']> {
  return async (from): Promise<PollPage> => {
    const cursor = 'cursor' in from ? Cursor.parse(jsonBody(from.cursor)) : beginning(from.since);
    const asked = now();
    const { rows, isFull, at = asked } = await page(cursor.from, cursor.page);
    const found = rows.flatMap(events).filter((event) => event.at >= cursor.since);
    const last = rows.findLast((row) => changedAt(row) !== undefined);
    const reached = (last && changedAt(last)) ?? cursor.from;
    if (isFull) return { events: found, cursor: JSON.stringify(onwards(cursor, reached)), done: false, reached };
    const next = {
      v: 1,
      from: nextStart(cursor.from, at, overlapMs),
      page: 1,
      since: nextStart(cursor.since, at, overlapMs),
    };
    return { events: found, cursor: JSON.stringify(next), done: true, reached: at };
  };
}

/** Rounded down to seconds, the resolution of most vendors. */
function beginning(since: Date): Cursor {
  const second = new Date(Math.floor(since.getTime() / stepMs) * stepMs);
  return { v: 1, from: second, page: 1, since: second };
}

/** Goes back one second, in which further rows may have changed; to the next page where that would make no progress. */
function onwards(cursor: Cursor, last: Date): Cursor {
  const from = new Date(last.getTime() - stepMs);
  return from > cursor.from ? { ...cursor, from, page: 1 } : { ...cursor, page: cursor.page + 1 };
}

/** Never earlier than the last run, unless the vendor's clock was set back. */
function nextStart(last: Date, at: Date, overlapMs: number): Date {
  return at < last ? at : new Date(Math.max(last.getTime(), at.getTime() - overlapMs));
}
