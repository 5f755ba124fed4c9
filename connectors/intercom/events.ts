import { z } from 'zod';
import type { ConnectorPorts, Delivery, Events, RecordEvent, SourceEvent } from '../../core/connector/contract.ts';
import { noEvent, oneEvent } from '../../core/connector/delivery.ts';
import { createSweep, type SweepSearch } from '../../core/connector/sweep.ts';
import { lookUp } from '../../core/look-up.ts';
import type { Query, Workspace } from './api.ts';
import {
  Conversation,
  closingAt,
  id,
  isOurs,
  isTicketClosed,
  Rating,
  Ticket,
  ticketClosedAt,
  time,
} from './conversation.ts';
import type { IntercomSettings } from './settings.ts';

const Envelope = z.object({
  app_id: z.string(),
  topic: z.string(),
  created_at: time,
  data: z.object({ item: z.unknown() }),
});

/**
 * The event in a delivery, or the reason why there is none. Unreadable deliveries are accepted, because Intercom disables a webhook whose
 * deliveries are often refused.
 */
export function events(
  json: unknown,
  { receivedAt }: Pick<Delivery, 'receivedAt'>,
  settings: IntercomSettings,
): Events {
  const { data } = Envelope.safeParse(json);
  if (data === undefined) return noEvent('a delivery', 'no notification of Intercom');
  const topic = /^[a-z_.]{1,60}$/.test(data.topic) ? data.topic : 'a topic';
  if (data.app_id !== settings.workspace) return noEvent(topic, 'of another workspace');
  const at = data.created_at ?? Math.floor(receivedAt.getTime() / 1_000);
  const found = eventOf(topic, data.data.item, at, settings);
  return typeof found === 'string' ? noEvent(topic, found) : oneEvent(found);
}

const unknown = 'not a topic that closeloop needs, or without what it should hold';
const changes: Readonly<Record<string, string>> = {
  'conversation.admin.opened': 'reopened',
  'conversation.admin.snoozed': 'snoozed',
  'conversation.user.replied': 'customer replied',
};

function eventOf(topic: string, item: unknown, seconds: number, settings: IntercomSettings): SourceEvent | string {
  const changed = lookUp(changes, topic);
  if (topic === 'conversation.admin.closed' || changed !== undefined) {
    const { data } = Conversation.safeParse(item);
    const part = data?.conversation_parts?.at(-1);
    if (data === undefined) return unknown;
    if (part && isOurs(part, settings)) return 'what closeloop did itself';
    const at = part?.created_at ?? seconds;
    if (changed !== undefined) return changedEvent(data.id, at, changed);
    if (data.ticket && settings.ticketIsClosed === 'resolved') return 'a ticket, which counts by its state';
    return closedEvent(data.id, at, topic);
  }
  if (topic === 'conversation.deleted') {
    const { data } = z.object({ conversation_id: id }).safeParse(item);
    return data ? changedEvent(data.conversation_id, seconds, 'deleted') : unknown;
  }
  if (/^ticket\.(resolved|closed|state\.updated)$/.test(topic)) {
    const { data } = AnyTicket.safeParse(item);
    return data ? ticketEvent(data, { topic, seconds }, settings) : unknown;
  }
  if (/^(conversation\.rating\.added|ticket\.rating\.provided)$/.test(topic)) {
    const { data } = AnyRated.safeParse(item);
    return settings.ratings ? ratingEvent(data, seconds) : 'ratings are not passed on (ratings: true)';
  }
  const isErased = topic === 'contact.deleted' || (topic === 'contact.archived' && settings.eraseArchived);
  const person = isErased ? z.object({ id: z.string() }).safeParse(item).data : undefined;
  if (person === undefined) return unknown;
  const at = new Date(seconds * 1_000);
  return { kind: 'erase', personIds: [person.id], at, key: `${topic}.${person.id}`, what: topic };
}

/** A closing has the same key in webhooks and in the poll. */
function closedEvent(recordId: string, seconds: number, what: string): SourceEvent {
  const { closing, closedAt: at } = closingAt(seconds);
  return { kind: 'closed', certain: true, recordId, closing, at, key: `closed.${recordId}.${closing}`, what };
}

const changedEvent = (recordId: string, seconds: number, what: string): RecordEvent => {
  const at = new Date(seconds * 1_000);
  return { kind: 'changed', recordId, at, key: `changed.${recordId}.${seconds}.${what}`, what };
};

const AnyTicket = z.union([z.object({ ticket: Ticket }).transform((item) => item.ticket), Ticket]);

/** Webhooks and searches give a ticket with its newest 500 parts. */
function ticketEvent(
  ticket: Ticket,
  { topic, seconds }: { topic: string; seconds: number },
  settings: IntercomSettings,
): SourceEvent | string {
  const { id, category, ticket_state: state, ticket_parts: parts } = ticket;
  if (!settings.ticketCategories.some((one) => one === category)) return 'a ticket of a category that asks nobody';
  if (topic === 'ticket.state.updated') {
    const last = parts.findLast(({ part_type }) => part_type.startsWith('ticket_state_updated'));
    const isMove = last === undefined || last.ticket_state !== last.previous_ticket_state;
    if (!isMove || (last && isOurs(last, settings))) return 'the state is as it was, or as closeloop made it';
    if (state.category !== 'resolved')
      return changedEvent(id, last?.created_at ?? seconds, `ticket state ${state.category}`);
  }
  if (!isTicketClosed(ticket, settings)) return 'a ticket that does not count as closed';
  const at = ticketClosedAt(ticket, settings)?.created_at;
  if (at !== undefined) return closedEvent(id, at, topic);
  return { ...changedEvent(id, seconds, topic), kind: 'closed' };
}

const Rated = z.object({ id, conversation_rating: Rating });
type Rated = Pick<Conversation, 'id' | 'conversation_rating'>;
const AnyRated = z.union([
  Rated,
  z.object({ conversation: Rated }).transform((item) => item.conversation),
  z.object({ ticket: Rated }).transform((item) => item.ticket),
]);

/** The event of a rating. Customers may change a rating for a while, and add the remark later: the newest event counts. */
function ratingEvent(rated: Rated | undefined, seconds: number): SourceEvent | string {
  if (!rated?.conversation_rating) return 'nobody has rated';
  const { rating: grade, remark, updated_at = seconds } = rated.conversation_rating;
  const key = `rated.${rated.id}.${updated_at}.${grade}.${remark?.length ?? 0}`;
  const at = new Date(updated_at * 1_000);
  return { kind: 'external-grade', recordId: rated.id, grade, comment: remark || null, at, key, what: 'rated' };
}

const daySeconds = 86_400;
const day = daySeconds * 1_000;

/** The searches of one source, which find out once whether Intercom compares times by the second or by the day. */
function searcher(workspace: Workspace) {
  let isToTheSecond: boolean | undefined;
  const urgency = 'background';

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
    const query: Query[] = [
      { field: 'id', operator: '=', value: one.id },
      { field: 'statistics.last_close_at', operator: '>', value: one.statistics.last_close_at - 1 },
    ];
    const found = await workspace.search('conversations', query, Conversation, { perPage: 1, urgency });
    isToTheSecond = found.rows.length > 0;
  }

  const search = <S extends z.ZodType>(
    list: { of: 'conversations' | 'tickets'; row: S; perPage: number },
    which: { field: string; also?: Query[] },
    eventOf: (row: z.output<S>) => SourceEvent | string,
    atEnd?: (rows: readonly z.output<S>[]) => Promise<void>,
  ): SweepSearch => ({
    async page(from, after) {
      const { of, row, perPage } = list;
      const query: Query[] = [...(which.also ?? []), { field: which.field, operator: '>', value: boundOf(from) }];
      const { rows, next } = await workspace.search(of, query, row, { perPage, after, urgency });
      // The searcher learns only after the last page, as all pages of one search need the same query.
      if (next === undefined) await atEnd?.(rows);
      return { events: rows.map(eventOf).filter((event) => typeof event !== 'string'), next };
    },
  });

  return { search, learn };
}

/**
 * Searches for conversations by their last closing (an update does not always reach the index), for tickets by their last change, and for
 * ratings. Pages have 150 rows, or 25 for tickets, which come with their history. Once a day the searches begin three days earlier.
 */
export function poller(settings: IntercomSettings, workspace: Workspace, ports: Pick<ConnectorPorts, 'now'>) {
  const { search, learn } = searcher(workspace);
  const conversations = { of: 'conversations', row: Conversation, perPage: 150 } as const;
  const closed = search(
    conversations,
    { field: 'statistics.last_close_at', also: [{ field: 'state', operator: '=', value: 'closed' }] },
    ({ id, ticket, statistics }) => {
      if (ticket) return 'found as a ticket';
      // closeloop closes only conversations that its own write had opened, so they were closed before.
      if (statistics?.last_close_at === undefined || statistics.last_closed_by_id === settings.adminId)
        return 'by closeloop';
      return closedEvent(id, statistics.last_close_at, 'poll: closed');
    },
    learn,
  );
  const isShut: Query[] = settings.ticketIsClosed === 'closed' ? [{ field: 'open', operator: '=', value: false }] : [];
  const tickets = search({ of: 'tickets', row: Ticket, perPage: 25 }, { field: 'updated_at', also: isShut }, (ticket) =>
    ticketEvent(ticket, { topic: 'poll: ticket', seconds: ticket.updated_at ?? 0 }, settings),
  );
  const rated = search(conversations, { field: 'conversation_rating.replied_at' }, (conversation) =>
    ratingEvent(conversation, conversation.updated_at ?? 0),
  );
  const searches = [
    closed,
    ...(settings.ticketCategories.length > 0 ? [tickets] : []),
    ...(settings.ratings ? [rated] : []),
  ];
  return createSweep(searches, { now: ports.now, overlapMs: 120_000, deep: { everyMs: day, backMs: 3 * day } });
}
