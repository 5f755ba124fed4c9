import { z } from 'zod';
import type { Events, RecordEvent, Source } from '../../core/connector/contract.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { numberedPages } from '../../core/connector/pages.ts';
import { inSeconds } from '../../core/connector/seconds.ts';
import type { VendorApi } from '../../core/connector/vendor-api.ts';
import { listOf } from '../../core/entries.ts';
import type { RequestTrackerSettings } from './settings.ts';

/* Each change of a status is a transaction with an ascending id. This id is the event's key, the closing's name, and the progress of a poll. */

export const Id = z.union([z.int(), z.string()]).transform(String);
const time = z.iso.datetime().transform((written) => new Date(written));
const status = z.string().max(200).nullish();
/** For a merge `NewValue` is the address of the surviving ticket. */
const Change = z.object({ id: Id, ObjectId: Id, Type: z.string(), OldValue: status, NewValue: status, Created: time });
type Change = z.output<typeof Change>;
/** The message that the scrip sends. */
const ScripMessage = z.object({ transaction: z.int(), ticket: z.int(), from: status, to: status, at: time });

/** The largest page of a search, whatever size is requested; searches return no total. */
const pageSize = 100;
export const listed = <Item extends z.ZodType>(api: VendorApi, path: string, item: Item) =>
  numberedPages('Request Tracker', pageSize, async (page) => {
    return (await api.get(`${path}&per_page=${pageSize}&page=${page}`, z.object({ items: listOf(item) }))).items;
  });

const changes = (where: string): string => {
  const fields = 'ObjectId,Type,OldValue,NewValue,Created';
  return `/transactions?${new URLSearchParams({ query: `ObjectType = 'RT::Ticket' AND ${where}`, fields, orderby: 'id' })}`;
};

export const isClosed = ({ closedStatuses }: RequestTrackerSettings, status: string | null | undefined): boolean =>
  closedStatuses.includes((status ?? '').toLowerCase());
const isClosing = (settings: RequestTrackerSettings, { OldValue, NewValue }: Change): boolean =>
  isClosed(settings, NewValue) && !isClosed(settings, OldValue);

/** @param change the last closing; undefined for a ticket that was created with a closed status */
export const closedBy = ({ Created }: { Created: string }, change: Change | undefined) =>
  ({ is: 'closed', closing: change?.id ?? 'created', closedAt: change?.Created ?? new Date(Created) }) as const;

/** The last closing of each ticket. Tickets that were created with a closed status have none. */
export async function closingsOf(settings: RequestTrackerSettings, api: VendorApi, tickets: readonly { id: string }[]) {
  if (tickets.length === 0) return new Map<string, Change>();
  const ids = tickets.map(({ id }) => `ObjectId = ${id}`).join(' OR ');
  const all = await listed(api, changes(`Type = 'Status' AND (${ids})`), Change);
  return new Map(all.filter((one) => isClosing(settings, one)).map((one) => [one.ObjectId, one]));
}

function eventsOf(settings: RequestTrackerSettings, change: Change): RecordEvent[] {
  const { id, ObjectId: recordId, Type, OldValue, NewValue, Created: at } = change;
  const event = { recordId, at, key: id, what: `status ${NewValue}, was ${OldValue}` };
  if (isClosing(settings, change)) return [{ ...event, kind: 'closed', certain: true, closing: id }];
  if (Type === 'Status') return [{ ...event, kind: 'changed' }];
  const mergedInto = /\/ticket\/(\d+)$/.exec(NewValue ?? '')?.[1];
  // The surviving ticket has the same transaction, with its own id.
  if (mergedInto === undefined || mergedInto === recordId) return [];
  return [{ ...event, kind: 'changed', what: 'merged', mergedInto }];
}

export function told(settings: RequestTrackerSettings, body: unknown): Events {
  const { data } = ScripMessage.safeParse(body);
  if (data === undefined) return { ok: false, why: 'not what the scrip sends' };
  const { transaction, ticket, from, to, at } = data;
  const change = { id: String(transaction), ObjectId: String(ticket), OldValue: from, NewValue: to, Created: at };
  return { ok: true, events: eventsOf(settings, { ...change, Type: 'Status' }), ignored: [] };
}

/**
 * `since`: the begin of the first poll. `after`: the last id that this poll has read. `settled`: the id after which the next poll begins; 0
 * stands for `since`.
 */
const Cursor = z.object({ v: z.literal(1), since: time, after: z.coerce.number(), settled: z.coerce.number() });
/**
 * A transaction of a long save is visible only after transactions with higher ids, and clocks differ, so the next poll reads younger
 * transactions again.
 */
const settledMs = 15 * 60_000;
/** Request Tracker reads the times of a query in the zone of the token's user, which closeloop does not know here. */
const widestZoneMs = 15 * 3_600_000;

export function poller(settings: RequestTrackerSettings, api: VendorApi, now: () => Date): NonNullable<Source['poll']> {
  return async (from) => {
    const begun =
      'cursor' in from ? jsonBody(from.cursor) : { v: 1, since: inSeconds(from.since), after: 0, settled: 0 };
    const { since, after, settled } = Cursor.parse(begun);
    const begin = after > 0 ? `id > ${after}` : `Created > '${sqlTime(new Date(since.getTime() - widestZoneMs))}'`;
    const path = `${changes(`(Type = 'Status' OR Field = 'MergedInto') AND ${begin}`)}&per_page=${pageSize}`;
    const at = now();
    const Page = z.object({ items: listOf(Change) });
    const { items } = await api.get(path, Page, { urgency: 'background' });
    const next = items.findLast(({ Created }) => at.getTime() - Created.getTime() > settledMs)?.id ?? settled;
    const last = items.length < pageSize ? undefined : items.at(-1);
    const events = items.flatMap((change) => eventsOf(settings, change)).filter((event) => event.at >= since);
    const cursor = JSON.stringify({ v: 1, since, after: last?.id ?? next, settled: next });
    return { events, cursor, done: last === undefined, reached: last?.Created ?? at };
  };
}

/** The only form that Request Tracker never silently misreads: `2026-11-24 10:00:00`. */
export const sqlTime = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');
