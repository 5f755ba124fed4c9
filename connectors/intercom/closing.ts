import type { RecordState } from '../../core/connector/contract.ts';
import type { Contact, Conversation, Part, Ticket } from './conversation.ts';
import type { IntercomSettings } from './settings.ts';

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
