import { toSecond } from '../kit/message.ts';
import type { Agent, Conversation, Field, Person, Rating, Settings, Ticket } from './definitions.ts';

export function viewTicket(ticket: Ticket, fields: Iterable<Field>): Record<string, unknown> {
  const custom = [...fields].filter(({ name }) => name.startsWith('cf_'));
  return {
    ...{ cc_emails: [], fwd_emails: [], reply_cc_emails: [], ticket_cc_emails: [], fr_escalated: false },
    spam: ticket.is === 'spam',
    ...{ email_config_id: null, group_id: ticket.groupId, priority: ticket.priority },
    ...{ requester_id: ticket.requesterId, responder_id: ticket.responderId, source: ticket.source, company_id: null },
    ...{ status: ticket.status, subject: ticket.subject, association_type: ticket.associationType, to_emails: null },
    ...{ product_id: null, id: ticket.id, type: ticket.type },
    custom_fields: Object.fromEntries(custom.map(({ name }) => [name, ticket.values[name] ?? null])),
    ...{ created_at: toSecond(ticket.createdAt), updated_at: toSecond(ticket.updatedAt), tags: ticket.tags },
    ...(ticket.is === 'deleted' && { deleted: true }),
    ...(ticket.is === 'archived' && { archived: true }),
  };
}

export const viewStats = (ticket: Ticket): Record<string, unknown> => ({
  ...{ agent_responded_at: null, requester_responded_at: null, first_responded_at: null },
  status_updated_at: toSecond(ticket.statusUpdatedAt),
  ...{ resolved_at: toSecond(ticket.resolvedAt), closed_at: toSecond(ticket.closedAt), pending_since: null },
});

export const viewRequester = ({ id, name, email, phone, mobile }: Person): Record<string, unknown> => ({
  ...{ id, name, email, mobile, phone },
});

export const viewAgent = ({ id, name, email, scope, groupIds }: Agent): Record<string, unknown> => ({
  ...{ id, type: 'support_agent', ticket_scope: scope, occasional: false, available: true, group_ids: groupIds },
  contact: { active: true, email, name, language: 'en', time_zone: 'Berlin' },
});

export const viewNote = ({ id, body, isPrivate, userId, at }: Conversation): Record<string, unknown> => ({
  ...{ id, body, body_text: body.replace(/<[^>]*>/g, ''), incoming: false, private: isPrivate, user_id: userId },
  ...{ source: isPrivate ? 2 : 0, attachments: [], created_at: toSecond(at), updated_at: toSecond(at) },
});

export function viewField(field: Field, { statuses }: Settings): Record<string, unknown> {
  const { id, name, label, type, isRequired, isRequiredForClosure, choices } = field;
  const of = type === 'default_status' ? Object.entries(statuses).map(([key, as]) => [key, [as, as]]) : undefined;
  return {
    ...{ id, name, label, type, default: !name.startsWith('cf_'), archived: false },
    ...{ required_for_agents: isRequired, required_for_closure: isRequiredForClosure },
    ...(of && { choices: Object.fromEntries(of) }),
    ...(type === 'custom_dropdown' && { choices }),
  };
}

export const viewRating = ({ id, ticketId, value, feedback, at }: Rating): Record<string, unknown> => ({
  ...{ id, survey_id: 1, user_id: null, agent_id: null, group_id: null, ticket_id: ticketId, feedback },
  ...{ ratings: { default_question: value }, created_at: toSecond(at), updated_at: toSecond(at) },
});
