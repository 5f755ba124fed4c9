import { z } from 'zod';
import { VendorError } from '../../core/connector/classify.ts';
import type { PollPage, RecordEvent, Source } from '../../core/connector/contract.ts';
import { isFailure } from '../../core/connector/desk/rows.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Account } from './fields.ts';
import { stateOf, type Ticket, Tickets, ticketsOf } from './ticket.ts';

/** Zendesk's export leaves out the last minute, and refuses to begin in it. `marginMs` allows for a difference between clocks. */
const tooRecentMs = 60_000;
const marginMs = 10_000;

/** The path and the endpoint of the export. All incremental exports share 10 calls a minute. */
export const ticketExport = { path: '/api/v2/incremental/tickets/cursor.json', endpoint: 'incremental' };

/** The place to continue at: Zendesk's own cursor, and the instant to begin at if Zendesk refuses the cursor. */
type Place = { startSeconds: number; cursor?: string };

/**
 * Reads the changed tickets, up to 1,000 per call, including tickets that Zendesk's system or closeloop changed, in the order of their changes.
 * Only admins may do this. The keys name closings, so known closings are recognised.
 */
export function poller({ api, ports }: Account): NonNullable<Source['poll']> {
  return async (from): Promise<PollPage> => {
    const latest = ports.now().getTime() - tooRecentMs;
    const place: Place =
      'cursor' in from
        ? placeOf(from.cursor)
        : { startSeconds: Math.floor(Math.min(from.since.getTime(), latest - marginMs) / 1000) };
    const page = await exported(api, place);
    const all = [...ticketsOf(page, {}).values()];
    const found = all.flatMap((ticket) => (isFailure(ticket) ? [] : [ticket]));
    const unreadable = all.length - found.length;
    if (unreadable > 0)
      ports.log.warn({ unreadable }, 'tickets that differ from the documentation were left out of a sweep');
    const startSeconds = Math.max(place.startSeconds, ...found.map((ticket) => ticket.generated_timestamp ?? 0));
    // A response without a cursor means that there is nothing yet.
    const cursor = page.after_cursor || place.cursor;
    const done = page.end_of_stream !== false;
    return {
      events: found.flatMap((ticket) => eventOf(ticket) ?? []),
      cursor: `${startSeconds}:${cursor ?? ''}`,
      done,
      // At the end of the export closeloop has read everything but the last minute.
      reached: new Date(Math.max(startSeconds * 1000, done ? latest : 0)),
    };
  };
}

const Exported = Tickets.extend({ after_cursor: z.string().nullish(), end_of_stream: z.boolean().nullish() });

async function exported(api: Account['api'], { cursor, startSeconds }: Place): Promise<z.output<typeof Exported>> {
  const { path, endpoint } = ticketExport;
  const start = cursor === undefined ? `start_time=${startSeconds}` : `cursor=${encodeURIComponent(cursor)}`;
  try {
    return await api.get(`${path}?${start}&include=metric_sets`, Exported, { endpoint, urgency: 'background' });
  } catch (error) {
    if (!(error instanceof VendorError) || error.status !== 400) throw error;
    const advice = { kind: 'transient', retryAfterMs: tooRecentMs, throttled: true } as const;
    const message = 'Zendesk: its clock is behind ours; the sweep waits until its minute is over.';
    if (error.code === 'StartTimeTooRecent') throw new CloseloopError(message, advice, { cause: error });
    // If the poll kept a cursor that Zendesk refuses, sweeps would stop for good.
    if (cursor === undefined) throw error;
    return await exported(api, { startSeconds });
  }
}

/** The event of a ticket; undefined for a ticket that was never closed, as far as Zendesk shows. */
function eventOf(ticket: Ticket): RecordEvent | undefined {
  const { id: recordId, status, metric_set: metrics } = ticket;
  const state = stateOf(ticket, 'unread');
  const changedAt = new Date(ticket.updated_at);
  const event = (key: string, what: string) => ({
    recordId,
    key: `sweep-${recordId}-${key}`,
    what: `found ${what} by a sweep`,
  });
  if (state.is === 'closed') {
    // Without metrics all closings have the same name, so the time of the last change makes their keys differ.
    const closing = metrics?.reopens == null ? undefined : state.closing;
    const key = closing ?? String(changedAt.getTime());
    return { kind: 'closed', at: state.closedAt, ...event(key, status), ...(closing !== undefined && { closing }) };
  }
  const reopens = metrics?.reopens ?? 0;
  if (state.is === 'open' && reopens === 0) return undefined;
  const changed =
    state.is === 'open'
      ? event(`open-r${reopens}`, 'reopened')
      : event(`out-${changedAt.getTime()}`, status === 'deleted' ? 'deleted' : 'merged');
  return { kind: 'changed', at: changedAt, ...changed };
}

/** Parses a cursor of this poll. */
function placeOf(text: string): Place {
  const [, seconds, cursor = ''] = /^(\d{1,12}):(.*)$/s.exec(text) ?? [];
  // Without an instant the sweep would begin at 0, and read the whole history of the account.
  if (seconds === undefined)
    throw new CloseloopError('This is no cursor of a Zendesk sweep; it begins anew.', { kind: 'permanent' });
  return { startSeconds: Number(seconds), ...(cursor !== '' && { cursor }) };
}
