import type { z } from 'zod';
import { chunks } from '../../core/connector/batches.ts';
import { aboutRecords } from '../../core/connector/calls.ts';
import { namesOf } from '../../core/connector/check.ts';
import type { DeskReading } from '../../core/connector/desk/desk.ts';
import type { People, Workspace } from './api.ts';
import { Contact, Conversation, isClosed, isShownBySearch, type Reading, stateOf, Ticket } from './conversation.ts';
import type { IntercomSettings } from './settings.ts';

/**
 * The input of rules and fields: `conversation.attributes.Plan`, `contact.email`, `agent.name`. Unknown values are empty texts or
 * null.
 */
export interface IntercomShape {
  conversation: {
    id: string;
    subject: string;
    /** `conversation` (the Messenger), `email`, `whatsapp` … */
    channel: string;
    /** How the conversation began: `customer_initiated`, `campaigns_initiated`, `operator_initiated` … */
    deliveredAs: string;
    /** `priority` or `not_priority`. */
    priority: string;
    tags: string[];
    /** ISO 8601, UTC. */
    createdAt: string | null;
    /** Conversation attributes, by name: `conversation.attributes.Plan`. */
    attributes: Record<string, unknown>;
    /** Whether Intercom's AI agent took part. */
    aiParticipated: boolean;
    /** The AI agent's result. */
    aiResolution: string;
    /** Intercom's own rating, 1 to 5. */
    rating: number | null;
  };
  ticket: {
    isTicket: boolean;
    /** The name of the ticket type. */
    type: string;
    /** `Customer`, `Back-office` or `Tracker`. */
    category: string;
    /** `submitted`, `in_progress`, `waiting_on_customer` or `resolved`. */
    state: string;
    /** Ticket attributes, by name. */
    attributes: Record<string, unknown>;
  };
  /** The teammate who closed the conversation, else its assignee. The name is empty after the teammate has left. */
  agent: { id: string; name: string; email: string };
  team: { id: string; name: string };
  contact: {
    id: string;
    /** Your own id of the contact. */
    externalId: string;
    /** `user` or `lead`. */
    role: string;
    name: string;
    email: string;
    phone: string;
    country: string;
    region: string;
    city: string;
    /** BCP 47. */
    language: string;
    /** Contact attributes, by name. */
    attributes: Record<string, unknown>;
    unsubscribedFromEmails: boolean;
    unsubscribedFromSms: boolean;
    smsConsent: boolean;
  };
}

function present({ conversation, ticket, contact }: Reading, people?: People): IntercomShape {
  const {
    statistics,
    source,
    ai_agent,
    conversation_rating: rating,
    admin_assignee_id,
    team_assignee_id,
  } = conversation;
  const agentId = statistics?.last_closed_by_id ?? admin_assignee_id ?? '';
  const person = contact ?? Contact.parse({ id: conversation.contacts[0] ?? '' });
  return {
    conversation: {
      id: conversation.id,
      subject: source.subject || conversation.title,
      channel: source.type,
      deliveredAs: source.delivered_as,
      priority: conversation.priority,
      tags: conversation.tags,
      createdAt: iso(conversation.created_at),
      attributes: conversation.custom_attributes,
      aiParticipated: conversation.ai_agent_participated,
      aiResolution: ai_agent?.resolution_state ?? '',
      rating: rating?.rating ?? null,
    },
    ticket: {
      isTicket: conversation.ticket !== null,
      type: ticket?.ticket_type.name ?? '',
      category: ticket?.category ?? '',
      state: ticket?.ticket_state.category ?? conversation.ticket?.state ?? '',
      attributes: ticket?.ticket_attributes ?? {},
    },
    agent: {
      id: agentId,
      name: people?.admins.get(agentId)?.name ?? '',
      email: people?.admins.get(agentId)?.email ?? '',
    },
    team: { id: team_assignee_id ?? '', name: people?.teams.get(team_assignee_id ?? '')?.name ?? '' },
    contact: {
      id: person.id,
      externalId: person.external_id,
      role: person.role,
      name: person.name,
      email: person.email,
      phone: person.phone,
      ...person.location,
      language: localeOf(person),
      attributes: person.custom_attributes,
      unsubscribedFromEmails: person.unsubscribed_from_emails,
      unsubscribedFromSms: person.unsubscribed_from_sms,
      smsConsent: person.sms_consent,
    },
  };
}

const localeOf = (contact: Contact): string => contact.language_override || contact.browser_language;
const iso = (seconds: number | undefined): string | null =>
  seconds === undefined ? null : new Date(seconds * 1_000).toISOString();

/** The names that `check` compares expressions with. Attributes may have any names. */
export const shapeNames = namesOf(present({ conversation: Conversation.parse({ id: '1' }) }));

/** The most conditions of one search. */
export const searched = 15;

export const isId = (text: string): boolean => /^[1-9]\d{0,19}$/.test(text);

/** Reads records by search, 15 per call, without parts. The index lags by seconds. */
export async function searchByIds<S extends z.ZodType<{ id: string }>>(
  workspace: Workspace,
  of: 'conversations' | 'tickets',
  ids: readonly string[],
  row: S,
): Promise<Map<string, z.output<S>>> {
  const found = new Map<string, z.output<S>>();
  for (const some of chunks(ids, searched)) {
    const value = some.map((id) => ({ field: 'id', operator: '=', value: id }) as const);
    const { rows } = await aboutRecords(some, () =>
      workspace.search(of, { operator: 'OR', value }, row, { perPage: searched }),
    );
    for (const one of rows) found.set(one.id, one);
  }
  return found;
}

/** Reads a conversation in its present state, with its parts. */
export const conversationNow = (workspace: Workspace, id: string): Promise<Conversation | undefined> =>
  workspace.find({ method: 'GET', path: `/conversations/${id}?display_as=plaintext` }, Conversation);

/** @param asTicket whether to read a ticket as a ticket, in its present state */
export async function readingOf(workspace: Workspace, conversation: Conversation, asTicket: boolean): Promise<Reading> {
  const { id } = conversation;
  if (conversation.ticket === null || !asTicket) return { conversation };
  return { conversation, ticket: await workspace.find({ method: 'GET', path: `/tickets/${id}` }, Ticket) };
}

/**
 * Reads conversations by search, and one by one if the search does not decide: not found or open (the index lags), or closed by a bot or by
 * closeloop (only the parts show when, and whether the conversation was merged). Tickets have a search of their own, with their history.
 */
export function reading(settings: IntercomSettings, workspace: Workspace): DeskReading<Reading, IntercomShape> {
  const readsTickets = settings.ticketCategories.length > 0;
  const isDecided = (one: Reading): boolean =>
    isClosed(one, settings) && (one.ticket !== undefined || isShownBySearch(one.conversation, settings));

  return {
    isId,
    // Six searches, and one search for the contacts, which takes a hundred ids.
    size: 6 * searched,
    async many(ids) {
      const found = await searchByIds(workspace, 'conversations', ids, Conversation);
      const stubs = [...found.values()].flatMap(({ id, ticket }) => (ticket && readsTickets ? [id] : []));
      const tickets = await searchByIds(workspace, 'tickets', stubs, Ticket);
      const readings = [...found].map(([id, conversation]) => [id, { conversation, ticket: tickets.get(id) }] as const);
      return new Map(readings.filter(([, one]) => isDecided(one)));
    },
    async one(id) {
      const conversation = await conversationNow(workspace, id);
      return conversation && (await readingOf(workspace, conversation, readsTickets));
    },
    async present(readings) {
      const contacts = await contactsOf(workspace, readings);
      const people = await workspace.people();
      return (one) => {
        const [personId] = one.conversation.contacts;
        const contact = contacts.get(personId ?? '');
        return {
          state: stateOf({ ...one, contact }, settings),
          shape: present({ ...one, contact }, people),
          ...{ personId, country: contact?.location.country, region: contact?.location.region },
          locale: contact && localeOf(contact),
        };
      };
    },
  };
}

/** Reads a hundred contacts per search. Searches leave out merged contacts: closeloop reads them one by one, and gets the survivor. */
async function contactsOf(workspace: Workspace, readings: readonly Reading[]): Promise<Map<string, Contact>> {
  const ids = [...new Set(readings.flatMap(({ conversation }) => conversation.contacts.slice(0, 1)))];
  const found = new Map<string, Contact>();
  for (const some of chunks(ids, 100)) {
    const query = { field: 'id', operator: 'IN', value: some } as const;
    const { rows } = await workspace.search('contacts', query, Contact, { perPage: 100 });
    for (const one of rows) found.set(one.id, one);
  }
  for (const id of ids.filter((one) => !found.has(one))) {
    const conversations = readings.filter(({ conversation }) => conversation.contacts[0] === id);
    const contact = await aboutRecords(
      conversations.map(({ conversation }) => conversation.id),
      () => contactNow(workspace, id),
    );
    if (contact) found.set(id, contact);
  }
  return found;
}

async function contactNow(workspace: Workspace, id: string, isFollowed = false): Promise<Contact | undefined> {
  const call = { method: 'GET', path: `/contacts/${encodeURIComponent(id)}`, place: 'GET /contacts/{id}' } as const;
  const response = await workspace.exchange(call);
  const [, survivor] = /^<\/contacts\/(\w+)>; *rel="canonical"/.exec(response.headers.get('link') ?? '') ?? [];
  if (response.status === 410 && survivor !== undefined && !isFollowed)
    return await contactNow(workspace, survivor, true);
  if (response.status === 404) return undefined;
  await workspace.accept(call, response);
  return workspace.parse(call, response, Contact);
}
