import type { z } from 'zod';
import type { ConnectorPorts, SourceEvent } from '../../core/connector/contract.ts';
import { createSweep, type SweepSearch } from '../../core/connector/sweep.ts';
import type { Query, Workspace } from './api.ts';
import { Conversation, Ticket } from './conversation.ts';
import { closedEvent, ratingEvent, ticketEvent } from './events.ts';
import type { IntercomSettings } from './settings.ts';

const daySeconds = 86_400;
const day = daySeconds * 1_000;

interface Searched<S extends z.ZodType> {
  of: 'conversations' | 'tickets';
  row: S;
  perPage: number;
  field: string;
  also?: Query[];
  eventOf: (row: z.output<S>) => SourceEvent | string;
  /** Called with the rows of the last page. */
  learn?: (rows: readonly z.output<S>[]) => Promise<void>;
}

/** The searches of one source, which find out once whether Intercom compares times by the second or by the day. */
function searcher(workspace: Workspace) {
  let isToTheSecond: boolean | undefined;

  /** The lower bound of a search. It is right for both kinds of comparison until a search has shown that Intercom compares seconds. */
  function boundOf(from: Date): number {
    const start = from.getTime() / 1_000;
    return isToTheSecond ? start - 600 : start - (start % daySeconds) - daySeconds - 1;
  }

  /**
   * Finds out how Intercom compares: searches for one conversation from the second before its closing. The closing must not be near midnight
   * in any zone.
   */
  async function learn(rows: readonly Conversation[]): Promise<void> {
    const one = rows.find(({ statistics }) => (statistics?.last_close_at ?? 0) % 900 !== 0);
    if (isToTheSecond !== undefined || one?.statistics?.last_close_at === undefined) return;
    const value: Query[] = [
      { field: 'id', operator: '=', value: one.id },
      { field: 'statistics.last_close_at', operator: '>', value: one.statistics.last_close_at - 1 },
    ];
    const page = { perPage: 1, urgency: 'background' } as const;
    const found = await workspace.search('conversations', { operator: 'AND', value }, Conversation, page);
    isToTheSecond = found.rows.length > 0;
  }

  function search<S extends z.ZodType>(what: Searched<S>): SweepSearch {
    const { of, row, perPage, field, also = [], eventOf, learn } = what;
    return {
      async page(from, after) {
        const value: Query[] = [...also, { field, operator: '>', value: boundOf(from) }];
        const page = { perPage, after, urgency: 'background' } as const;
        const { rows, next } = await workspace.search(of, { operator: 'AND', value }, row, page);
        // The searcher learns only after the last page, as all pages of one search need the same query.
        if (next === undefined) await learn?.(rows);
        return { events: rows.map(eventOf).filter((event) => typeof event !== 'string'), next };
      },
    };
  }

  return { search, learn };
}

/**
 * Searches for conversations by their last closing (an update does not always reach the index), for tickets by their last change, and for
 * ratings. Pages have 150 rows, or 25 for tickets, which come with their history. Once a day the searches begin three days earlier.
 */
export function poller(settings: IntercomSettings, workspace: Workspace, ports: Pick<ConnectorPorts, 'now'>) {
  const { search, learn } = searcher(workspace);
  const conversations = { of: 'conversations', row: Conversation, perPage: 150 } as const;
  const closed = search({
    ...conversations,
    field: 'statistics.last_close_at',
    also: [{ field: 'state', operator: '=', value: 'closed' }],
    learn,
    eventOf({ id, ticket, statistics }) {
      if (ticket) return 'found as a ticket';
      // closeloop closes only conversations that its own write had opened, so they were closed before.
      if (statistics?.last_close_at === undefined || statistics.last_closed_by_id === settings.adminId)
        return 'by closeloop';
      return closedEvent(id, statistics.last_close_at, 'poll: closed');
    },
  });
  const tickets = search({
    ...{ of: 'tickets', row: Ticket, perPage: 25, field: 'updated_at' },
    also: settings.ticketIsClosed === 'closed' ? [{ field: 'open', operator: '=', value: false }] : [],
    eventOf: (ticket) => ticketEvent(ticket, { topic: 'poll: ticket', seconds: ticket.updated_at ?? 0 }, settings),
  });
  const rated = search({
    ...{ ...conversations, field: 'conversation_rating.replied_at' },
    eventOf: (conversation) => ratingEvent(conversation, conversation.updated_at ?? 0),
  });
  const searches = [
    closed,
    ...(settings.ticketCategories.length > 0 ? [tickets] : []),
    ...(settings.ratings ? [rated] : []),
  ];
  return createSweep(searches, { now: ports.now, overlapMs: 120_000, deep: { everyMs: day, backMs: 3 * day } });
}
