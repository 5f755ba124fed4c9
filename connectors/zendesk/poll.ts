import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, PollPage, RecordEvent, Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ZendeskApi } from './api.ts';
import { closingOf } from './closing.ts';
import { incrementalExports } from './quota.ts';
import { factsOf } from './record.ts';
import { exportTickets, type MetricSet, type Ticket, type TicketExport } from './ticket.ts';

/** Zendesk's export leaves out the last minute and refuses to begin in it. The rest is for the difference between clocks. */
const tooRecentMs = 60_000;
const marginMs = 10_000;

/** Where to go on: Zendesk's own cursor, and the instant (seconds) to begin at when Zendesk takes it no more. */
interface Place {
  startSeconds: number;
  cursor?: string;
}

/**
 * Reads the changed tickets, up to 1,000 per call, also those that the system or closeloop changed: the keys name closings, so known
 * closings are recognised.
 */
export function poller(api: ZendeskApi, ports: Pick<ConnectorPorts, 'now' | 'log'>): NonNullable<Source['poll']> {
  return async (from): Promise<PollPage> => {
    const latest = ports.now().getTime() - tooRecentMs;
    const place: Place =
      'cursor' in from
        ? placeOf(from.cursor)
        : { startSeconds: Math.floor(Math.min(from.since.getTime(), latest - marginMs) / 1000) };
    const page = await next(place);
    const found = page.tickets.flatMap((read) => (read.ok ? [read.ticket] : []));
    const unreadable = page.tickets.length - found.length;
    if (unreadable > 0)
      ports.log.warn({ unreadable }, 'tickets that differ from the documentation were left out of a sweep');

    const startSeconds = Math.max(place.startSeconds, ...found.map((ticket) => ticket.generated_timestamp ?? 0));
    const cursor = page.cursor ?? place.cursor;
    return {
      events: found.flatMap((ticket) => eventOf(ticket, ticket.metric_set ?? page.metrics.get(ticket.id)) ?? []),
      cursor: `${startSeconds}:${cursor ?? ''}`,
      done: page.done,
      // At the end of the export everything but the last minute has been read.
      reached: new Date(Math.max(startSeconds * 1000, page.done ? latest : 0)),
    };
  };

  async function next({ cursor, startSeconds }: Place): Promise<TicketExport> {
    try {
      return await exportTickets(api, cursor === undefined ? { startSeconds } : { cursor }, incrementalExports);
    } catch (error) {
      if (!(error instanceof VendorError) || error.status !== 400) throw error;
      if (error.code === 'StartTimeTooRecent') {
        const message = 'Zendesk: its clock is behind ours; the sweep waits until its minute is over.';
        throw new CloseloopError(
          message,
          { kind: 'transient', retryAfterMs: tooRecentMs, throttled: true },
          { cause: error },
        );
      }
      // A cursor that Zendesk refuses would stop the sweeps for good.
      if (cursor === undefined) throw error;
      return exportTickets(api, { startSeconds }, incrementalExports);
    }
  }
}

/** A ticket that was never closed, as far as Zendesk tells, concerns nobody. */
function eventOf(ticket: Ticket, metrics: MetricSet | undefined): RecordEvent | undefined {
  const state = closingOf(factsOf(ticket, 'unread', metrics));
  const changedAt = new Date(ticket.updated_at);
  const recordId = ticket.id;
  if (state.is === 'closed') {
    // Without metrics all closings have one name: the time of the last change distinguishes their keys.
    const closing = metrics?.reopens == null ? undefined : state.closing;
    return {
      kind: 'closed',
      recordId,
      at: state.closedAt,
      key: `sweep-${recordId}-${closing ?? changedAt.getTime()}`,
      what: `found ${ticket.status} by a sweep`,
      ...(closing !== undefined && { closing }),
    };
  }
  const changed = (which: string, what: string): RecordEvent => ({
    kind: 'changed',
    recordId,
    at: changedAt,
    key: `sweep-${recordId}-${which}`,
    what: `found ${what} by a sweep`,
  });
  if (state.is === 'out')
    return changed(`out-${changedAt.getTime()}`, ticket.status === 'deleted' ? 'deleted' : 'merged');
  const reopens = metrics?.reopens ?? 0;
  return reopens === 0 ? undefined : changed(`open-r${reopens}`, 'reopened');
}

/** Parses a cursor of this poll. */
function placeOf(text: string): Place {
  const [, seconds, cursor = ''] = /^(\d{1,12}):(.*)$/s.exec(text) ?? [];
  if (seconds === undefined) {
    // A sweep from 0 would read the whole history of the account.
    throw new CloseloopError('This is no cursor of a Zendesk sweep; it begins anew.', { kind: 'permanent' });
  }
  return { startSeconds: Number(seconds), ...(cursor !== '' && { cursor }) };
}
