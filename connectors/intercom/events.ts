import { z } from 'zod';
import type { Delivery, Events, RecordEvent, SourceEvent } from '../../core/connector/contract.ts';
import { noEvent, oneEvent } from '../../core/connector/delivery.ts';
import { lookUp } from '../../core/look-up.ts';
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
export function closedEvent(recordId: string, seconds: number, what: string): SourceEvent {
  const { closing, closedAt: at } = closingAt(seconds);
  return { kind: 'closed', certain: true, recordId, closing, at, key: `closed.${recordId}.${closing}`, what };
}

const changedEvent = (recordId: string, seconds: number, what: string): RecordEvent => {
  const at = new Date(seconds * 1_000);
  return { kind: 'changed', recordId, at, key: `changed.${recordId}.${seconds}.${what}`, what };
};

const AnyTicket = z.union([z.object({ ticket: Ticket }).transform((item) => item.ticket), Ticket]);

/** Webhooks and searches give a ticket with its newest 500 parts. */
export function ticketEvent(
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
export function ratingEvent(rated: Rated | undefined, seconds: number): SourceEvent | string {
  if (!rated?.conversation_rating) return 'nobody has rated';
  const { rating: grade, remark, updated_at = seconds } = rated.conversation_rating;
  const key = `rated.${rated.id}.${updated_at}.${grade}.${remark?.length ?? 0}`;
  const at = new Date(updated_at * 1_000);
  return { kind: 'external-grade', recordId: rated.id, grade, comment: remark || null, at, key, what: 'rated' };
}
