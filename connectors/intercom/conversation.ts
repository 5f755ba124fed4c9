import { z } from 'zod';
import type { RecordState } from '../../core/connector/contract.ts';
import { flag, listOf, orElse, text } from '../../core/entries.ts';
import type { IntercomSettings } from './settings.ts';

/* Conversations, tickets and contacts in responses, and their states. Ids are strings or numbers, with 0 for nobody; instants are seconds or ISO strings. */

export const id = z.union([z.string().regex(/^\d{1,20}$/), z.int().positive()]).transform(String);
const somebody = z
  .union([z.string(), z.number()])
  .transform((value) => (['', '0'].includes(String(value)) ? undefined : String(value)))
  .optional()
  .catch(undefined);
/** Whole seconds since 1970, before the year 5139; undefined for anything else. */
export const time = z
  .union([z.number(), z.string().transform((text) => Date.parse(text) / 1_000)])
  .transform((seconds) => (seconds >= 0 && seconds < 1e11 ? Math.floor(seconds) : undefined))
  .optional()
  .catch(undefined);
const values = orElse(z.record(z.string(), z.unknown()), {});
/** An object whose members may each be absent or invalid; so may the whole object. */
const lenient = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const object = z.object(shape);
  return orElse(object, object.parse({}));
};
const named = z.object({ name: z.string() }).transform(({ name }) => name);
const identified = z.object({ id: z.string() }).transform(({ id }) => id);

export const Part = z.object({
  id: z.union([z.string(), z.number()]).transform(String).catch(''),
  part_type: text,
  body: text,
  created_at: time,
  author: lenient({ id: somebody, type: text }),
  app_package_code: text,
  ticket_state: text,
  previous_ticket_state: text,
});
export type Part = z.output<typeof Part>;

export const Rating = z.object({
  rating: z.int().min(1).max(5),
  remark: z.string().nullish().catch(null),
  updated_at: time,
});

export const Conversation = z.object({
  id,
  state: text,
  created_at: time,
  updated_at: time,
  title: text,
  priority: text,
  source: lenient({ type: text, delivered_as: text, subject: text }),
  contacts: lenient({ contacts: orElse(listOf(identified), []) }).transform(({ contacts }) => contacts),
  admin_assignee_id: somebody,
  team_assignee_id: somebody,
  tags: lenient({ tags: orElse(listOf(named), []) }).transform(({ tags }) => tags),
  /** Null for imported conversations. */
  statistics: z
    .object({ last_close_at: time, last_closed_by_id: somebody, last_contact_reply_at: time })
    .nullable()
    .catch(null),
  conversation_rating: Rating.nullable().catch(null),
  custom_attributes: values,
  ai_agent_participated: flag,
  ai_agent: z.object({ resolution_state: text }).nullable().catch(null),
  ticket: z.object({ state: text }).nullable().catch(null),
  /** The parts, which searches leave out. */
  conversation_parts: z
    .object({ conversation_parts: listOf(Part) })
    .transform((list) => list.conversation_parts)
    .optional(),
});
export type Conversation = z.output<typeof Conversation>;

export const Ticket = z.object({
  id,
  category: text,
  open: z.boolean().catch(true),
  updated_at: time,
  ticket_state: lenient({ category: text }),
  ticket_type: lenient({ name: text }),
  ticket_attributes: values,
  ticket_parts: lenient({ ticket_parts: orElse(listOf(Part), []) }).transform(({ ticket_parts }) => ticket_parts),
});
export type Ticket = z.output<typeof Ticket>;

export const Contact = z.object({
  id: z.string(),
  external_id: text,
  role: text,
  name: text,
  email: text,
  phone: text,
  language_override: text,
  browser_language: text,
  location: lenient({ country: text, region: text, city: text }),
  custom_attributes: values,
  unsubscribed_from_emails: flag,
  has_hard_bounced: flag,
  marked_email_as_spam: flag,
  unsubscribed_from_sms: flag,
  sms_consent: flag,
});
export type Contact = z.output<typeof Contact>;

type Rules = Omit<IntercomSettings, 'accessToken' | 'webhookSecrets'>;

/** Whether closeloop itself made this part (for example when it closed a ticket again that its own write had opened). */
export const isOurs = ({ author, app_package_code: app }: Part, { adminId, appPackageCode }: Rules): boolean =>
  author.id === adminId || (app !== '' && app === appPackageCode);

const isReopening = ({ part_type: type, author }: Part): boolean =>
  type === 'open' || type === 'assign_and_reopen' || (type === 'comment' && /^(user|lead|contact)$/.test(author.type));

/** The part that closed a ticket: the first closing after the last reopening. Both the inbox and the ticket's state can close a ticket. */
export function ticketClosedAt({ ticket_parts: parts }: Pick<Ticket, 'ticket_parts'>, rules: Rules): Part | undefined {
  let by: Part | undefined;
  for (const part of parts.toSorted((a, b) => (a.created_at ?? 0) - (b.created_at ?? 0))) {
    const isMove =
      part.part_type.startsWith('ticket_state_updated') && part.ticket_state !== part.previous_ticket_state;
    const resolves = isMove && part.ticket_state === 'resolved' && rules.ticketIsClosed !== 'closed';
    const closes = resolves || (part.part_type === 'close' && rules.ticketIsClosed !== 'resolved');
    const unresolves = isMove && part.previous_ticket_state === 'resolved' && rules.ticketIsClosed !== 'closed';
    if (isOurs(part, rules)) continue;
    if (closes) by ??= part;
    else if (isReopening(part) || unresolves) by = undefined;
  }
  return by;
}

const lastClose = (parts: readonly Part[], rules: Rules): Part | undefined =>
  parts.findLast((part) => part.part_type === 'close' && !isOurs(part, rules));

export const closingAt = (seconds: number) => ({ closing: `c${seconds}`, closedAt: new Date(seconds * 1_000) });

/**
 * The closing of a conversation whose closing part is unknown, as Intercom shows only the newest 500 parts: such a conversation counts as
 * closed once.
 */
const closedOnce = ({ updated_at = 0 }: Conversation) => ({ closing: 'once', closedAt: new Date(updated_at * 1_000) });

/** A conversation; `ticket` if the conversation is a ticket and was read as such; `contact` only for planning. */
export interface Reading {
  conversation: Conversation;
  ticket?: Ticket | undefined;
  contact?: Contact | undefined;
}

/**
 * Whether the statistics of a search are enough: they are if a teammate closed the conversation. If a bot did, it may also have merged the
 * conversation, which only the parts show.
 */
export const isShownBySearch = ({ ticket, statistics }: Conversation, { adminId }: Rules): boolean =>
  ticket === null && ![undefined, adminId].includes(statistics?.last_closed_by_id);

export const isTicketClosed = (
  { open, ticket_state }: Pick<Ticket, 'open' | 'ticket_state'>,
  { ticketIsClosed }: Rules,
): boolean =>
  (!open && ticketIsClosed !== 'resolved') || (ticket_state.category === 'resolved' && ticketIsClosed !== 'closed');

/** Whether the conversation is closed, also for a ticket that was read only as a conversation. */
export function isClosed({ conversation: { state, ticket: stub }, ticket }: Reading, rules: Rules): boolean {
  if (stub === null) return state === 'closed';
  const asTicket = { open: state !== 'closed', ticket_state: { category: stub.state } };
  return isTicketClosed(ticket ?? asTicket, rules);
}

export function stateOf(reading: Reading, rules: Rules): RecordState {
  const { conversation, ticket } = reading;
  const parts = ticket?.ticket_parts ?? conversation.conversation_parts;
  if (parts?.some((part) => part.part_type === 'merged_secondary_conversation'))
    return { is: 'out', why: 'merged into another conversation' };
  if (!isClosed(reading, rules)) return { is: 'open' };
  const by = ticket ? ticketClosedAt(ticket, rules) : parts && lastClose(parts, rules);
  const why = whyOut(reading, by, rules);
  if (why !== undefined) return { is: 'out', why };
  const shown = isShownBySearch(conversation, rules) ? conversation.statistics?.last_close_at : undefined;
  const at = shown ?? by?.created_at;
  return { is: 'closed', ...(at === undefined ? closedOnce(conversation) : closingAt(at)) };
}

function whyOut({ conversation, ticket, contact }: Reading, by: Part | undefined, rules: Rules) {
  const { source, statistics, contacts } = conversation;
  if (conversation.ticket && rules.ticketCategories.length === 0) return 'a ticket, and ticketCategories names none';
  if (ticket && !rules.ticketCategories.some((one) => one === ticket.category))
    return `a ticket of the category ${ticket.category}, which asks no customer`;
  if (rules.closedByBots === 'skip' && by?.author.type === 'bot') return 'closed by a bot (closedByBots: skip)';
  if (
    /^(automated|admin_initiated)$/.test(source.delivered_as) &&
    statistics &&
    statistics.last_contact_reply_at === undefined
  )
    return 'a message of ours that the customer never replied to';
  if (contacts.length === 0) return 'has no contact (any more)';
  const flags = {
    unsubscribed: contact?.unsubscribed_from_emails,
    bounced: contact?.has_hard_bounced,
    spam: contact?.marked_email_as_spam,
  };
  const flag = rules.skipContacts.find((one) => flags[one]);
  return flag && `the contact is marked: ${flag} (skipContacts)`;
}
