import { namesOf } from '../../core/connector/check.ts';
import type { People } from './api.ts';
import type { Reading } from './closing.ts';
import { Contact, Conversation } from './conversation.ts';

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

export function present({ conversation, ticket, contact }: Reading, people?: People): IntercomShape {
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

export const localeOf = (contact: Contact): string => contact.language_override || contact.browser_language;
const iso = (seconds: number | undefined): string | null =>
  seconds === undefined ? null : new Date(seconds * 1_000).toISOString();

/** The names that `check` compares expressions with. Attributes may have any names. */
export const shapeNames = namesOf(present({ conversation: Conversation.parse({ id: '1' }) }));
