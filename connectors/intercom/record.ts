import { namesOf } from '../../core/connector/check.ts';
import type { People } from './api.ts';
import type { Reading } from './closing.ts';
import { Contact, Conversation } from './conversation.ts';

/** The input of rules and fields: `conversation.attributes.Plan`, `contact.email`, `agent.name`. '' and null for unknown values. */
export function present({ conversation, ticket, contact }: Reading, people?: People) {
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
      /** `conversation` (the Messenger), `email`, `whatsapp` … */
      channel: source.type,
      deliveredAs: source.delivered_as,
      priority: conversation.priority,
      tags: conversation.tags,
      createdAt: iso(conversation.created_at),
      attributes: conversation.custom_attributes,
      aiParticipated: conversation.ai_agent_participated,
      aiResolution: ai_agent?.resolution_state ?? '',
      /** Intercom's own, 1 to 5. */
      rating: rating?.rating ?? null,
    },
    ticket: {
      isTicket: conversation.ticket !== null,
      type: ticket?.ticket_type.name ?? '',
      category: ticket?.category ?? '',
      state: ticket?.ticket_state.category ?? conversation.ticket?.state ?? '',
      attributes: ticket?.ticket_attributes ?? {},
    },
    /** The teammate who closed the conversation, else its assignee; without a name after the teammate has left. */
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
export type IntercomShape = ReturnType<typeof present>;

export const localeOf = (contact: Contact): string => contact.language_override || contact.browser_language;
const iso = (seconds: number | undefined): string | null =>
  seconds === undefined ? null : new Date(seconds * 1_000).toISOString();

/** For `check`. Attributes may have any names. */
export const shapeNames = namesOf(present({ conversation: Conversation.parse({ id: '1' }) }));
