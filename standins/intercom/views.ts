import type { Attribute, Contact, Conversation, Directory, Part, TicketType } from './definitions.ts';

/** What the API and the webhooks show. `parts`: which of them; a search shows none. */
export function viewConversation(
  store: Directory,
  one: Conversation,
  parts?: readonly Part[],
): Record<string, unknown> {
  return {
    type: 'conversation',
    id: one.id,
    created_at: one.createdAt,
    updated_at: one.updatedAt,
    waiting_since: null,
    snoozed_until: null,
    source: {
      type: 'conversation',
      id: `9${one.id}`,
      delivered_as: one.deliveredAs,
      subject: '',
      body: one.subject,
      author: one.startedBy,
      attachments: [],
      url: null,
      redacted: false,
    },
    contacts: contactList(store, one),
    admin_assignee_id: one.admin,
    team_assignee_id: one.team,
    open: one.state !== 'closed',
    state: one.state,
    read: true,
    tags: { type: 'tag.list', tags: one.tags.map((name, n) => ({ type: 'tag', id: String(n + 1), name })) },
    priority: 'none',
    statistics: one.statistics && {
      type: 'conversation_statistics',
      last_contact_reply_at: one.statistics.lastReplyAt,
      last_close_at: one.statistics.lastCloseAt,
      last_closed_by_id: one.statistics.lastClosedBy,
    },
    conversation_rating: viewRating(one),
    title: null,
    custom_attributes: one.values,
    ticket: one.ticket && { type: 'ticket', id: one.id, state: one.ticket.category },
    ai_agent: null,
    ai_agent_participated: one.aiParticipated,
    ...(parts && {
      conversation_parts: {
        type: 'conversation_part.list',
        conversation_parts: parts.filter(({ state }) => state === undefined).map(viewPart),
        total_count: one.parts.length,
      },
    }),
  };
}

const contactList = (store: Directory, { contacts }: Conversation) => ({
  type: 'contact.list',
  contacts: contacts.map((id) => ({
    type: 'contact',
    id,
    external_id: store.contacts.get(id)?.externalId ?? null,
  })),
});

/** Only the newest 500 parts are shown. */
export const newest = (parts: readonly Part[]): readonly Part[] => parts.slice(-500);

export const viewPart = (part: Part): Record<string, unknown> => ({
  type: 'conversation_part',
  id: part.id,
  part_type: part.type,
  body: part.body,
  created_at: part.at,
  updated_at: part.at,
  author: part.author,
  attachments: [],
  redacted: part.redacted,
  app_package_code: part.app,
});

export const viewTicketPart = (part: Part): Record<string, unknown> => ({
  ...viewPart(part),
  type: 'ticket_part',
  // The same thing goes by two ids.
  id: part.id.replace(/^8/, '7'),
  ...(part.state && { ticket_state: part.state.now, previous_ticket_state: part.state.before }),
});

function viewRating({ rating, contacts: [id] }: Conversation) {
  if (rating === null) return null;
  const { rating: given, remark, at } = rating;
  return { rating: given, remark, created_at: at, updated_at: at, contact: { type: 'contact', id }, teammate: null };
}

export function viewTicket(store: Directory, one: Conversation): Record<string, unknown> | null {
  const { ticket } = one;
  const type = ticket === null ? undefined : store.types.find(({ id }) => id === ticket.typeId);
  if (ticket === null || type === undefined) return null;
  return {
    type: 'ticket',
    id: one.id,
    // As the Inbox shows it: another number.
    ticket_id: String(1_400 + (Number(one.id) % 100)),
    ticket_attributes: {
      _default_title_: one.subject,
      ...Object.fromEntries(type.attributes.map(({ name }) => [name, null])),
      ...ticket.values,
    },
    ticket_state: { type: 'ticket_state', id: '5504', category: ticket.category, internal_label: ticket.category },
    ticket_type: viewType(type),
    contacts: contactList(store, one),
    admin_assignee_id: one.admin ?? '0',
    team_assignee_id: one.team ?? '0',
    created_at: one.createdAt,
    updated_at: one.updatedAt,
    open: one.state !== 'closed',
    snoozed_until: null,
    category: type.category,
    is_shared: true,
    ticket_parts: {
      type: 'ticket_part.list',
      ticket_parts: newest(one.parts).map(viewTicketPart),
      total_count: one.parts.length,
    },
  };
}

export const viewAttribute = (one: Attribute) => ({
  type: 'conversation_attribute',
  id: one.id,
  name: one.name,
  description: '',
  data_type: one.dataType,
  required: one.required,
  archived: one.archived,
});

export const viewTypeAttribute = (one: Attribute, type: TicketType) => ({
  type: 'ticket_type_attribute',
  id: String(one.id),
  name: one.name,
  description: '',
  data_type: one.dataType,
  required_to_create: one.required,
  archived: one.archived,
  ticket_type_id: Number(type.id),
});

export const viewType = (type: TicketType): Record<string, unknown> => ({
  type: 'ticket_type',
  id: type.id,
  name: type.name,
  archived: false,
  is_internal: type.category !== 'Customer',
  category: type.category,
  ticket_type_attributes: { type: 'list', data: type.attributes.map((one) => viewTypeAttribute(one, type)) },
});

export const viewContact = (one: Contact): Record<string, unknown> => ({
  type: 'contact',
  id: one.id,
  external_id: one.externalId,
  role: one.role,
  email: one.email,
  phone: one.phone,
  name: one.name,
  has_hard_bounced: one.hasHardBounced,
  marked_email_as_spam: one.markedEmailAsSpam,
  unsubscribed_from_emails: one.unsubscribedFromEmails,
  unsubscribed_from_sms: false,
  sms_consent: false,
  language_override: null,
  browser_language: one.language,
  location: { type: 'location', country: one.country, region: one.region, city: null, country_code: null },
  custom_attributes: one.attributes,
  companies: { type: 'list', data: [], total_count: 0, has_more: false },
});
