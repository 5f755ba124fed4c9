import { toSecond } from '../kit/message.ts';
import type { Audit, Group, Organization, Ticket, TicketField, User } from './definitions.ts';
import type { Store } from './store.ts';

/* Records as the REST API shows them: ids are numbers, enums lower case, times ISO 8601 to the second. */

export function viewTicket(store: Store, ticket: Ticket, base: string): object {
  const custom = [...store.fields.values()]
    .filter((field) => field.active)
    .map(({ id, type }) => ({ id, value: ticket.fields.get(id) ?? (type === 'checkbox' ? false : null) }));
  return {
    url: `${base}/api/v2/tickets/${ticket.id}.json`,
    id: ticket.id,
    external_id: ticket.externalId,
    via: { channel: ticket.channel, source: { from: {}, to: {}, rel: ticket.rel } },
    created_at: toSecond(ticket.createdAt),
    updated_at: toSecond(ticket.updatedAt),
    generated_timestamp: Math.floor(ticket.generatedAt / 1000),
    type: ticket.type,
    subject: ticket.subject,
    raw_subject: ticket.subject,
    description: ticket.description,
    priority: ticket.priority,
    status: ticket.gone === 'no' ? ticket.status : 'deleted',
    recipient: null,
    requester_id: ticket.requesterId,
    submitter_id: ticket.submitterId,
    assignee_id: ticket.assigneeId,
    organization_id: ticket.organizationId,
    group_id: ticket.groupId,
    collaborator_ids: [],
    follower_ids: [],
    email_cc_ids: [],
    forum_topic_id: null,
    problem_id: null,
    has_incidents: false,
    is_public: ticket.isPublic,
    due_at: null,
    tags: ticket.tags,
    custom_fields: custom,
    satisfaction_rating: { score: 'unoffered' },
    sharing_agreement_ids: [],
    custom_status_id: ticket.customStatusId,
    encoded_id: `${ticket.id}-ENC`,
    fields: custom,
    followup_ids: ticket.status === 'closed' ? ticket.followUpIds : [],
    ticket_form_id: ticket.formId,
    brand_id: ticket.brandId,
    allow_channelback: false,
    allow_attachments: true,
    from_messaging_channel: false,
  };
}

export function viewMetricSet(ticket: Ticket, base: string): object {
  const { id, reopens, replies, solvedAt, statusUpdatedAt } = ticket.metrics;
  return {
    url: `${base}/api/v2/ticket_metrics/${id}.json`,
    id,
    ticket_id: ticket.id,
    created_at: toSecond(ticket.createdAt),
    updated_at: toSecond(ticket.updatedAt),
    group_stations: ticket.groupId === null ? 0 : 1,
    assignee_stations: ticket.assigneeId === null ? 0 : 1,
    reopens,
    replies,
    assignee_updated_at: null,
    requester_updated_at: toSecond(ticket.createdAt),
    status_updated_at: toSecond(statusUpdatedAt),
    custom_status_updated_at: toSecond(statusUpdatedAt),
    initially_assigned_at: ticket.assigneeId === null ? null : toSecond(ticket.createdAt),
    assigned_at: ticket.assigneeId === null ? null : toSecond(ticket.createdAt),
    solved_at: toSecond(solvedAt),
    latest_comment_added_at: toSecond(ticket.updatedAt),
    reply_time_in_minutes: { calendar: null, business: null },
    first_resolution_time_in_minutes: { calendar: null, business: null },
    full_resolution_time_in_minutes: { calendar: null, business: null },
    agent_wait_time_in_minutes: { calendar: null, business: null },
    requester_wait_time_in_minutes: { calendar: null, business: null },
    on_hold_time_in_minutes: { calendar: 0, business: 0 },
  };
}

export function viewUser(user: User, base: string): object {
  return {
    id: user.id,
    url: `${base}/api/v2/users/${user.id}.json`,
    name: user.name,
    email: user.email,
    created_at: toSecond(user.createdAt),
    updated_at: toSecond(user.updatedAt),
    time_zone: 'Tallinn',
    iana_time_zone: user.ianaTimeZone,
    phone: user.phone,
    shared_phone_number: user.phone === null ? null : user.sharedPhoneNumber,
    photo: null,
    locale_id: 1,
    locale: user.locale,
    organization_id: user.organizationId,
    role: user.role,
    verified: user.verified,
    external_id: null,
    tags: user.tags,
    alias: '',
    active: user.active,
    shared: false,
    shared_agent: false,
    last_login_at: null,
    signature: null,
    details: '',
    notes: '',
    role_type: null,
    custom_role_id: null,
    moderator: user.role !== 'end-user',
    ticket_restriction: user.role === 'end-user' ? 'requested' : null,
    only_private_comments: false,
    restricted_agent: user.role === 'end-user',
    suspended: user.suspended,
    default_group_id: null,
    report_csv: false,
    user_fields: user.userFields,
  };
}

export function viewGroup(group: Group, base: string): object {
  return {
    url: `${base}/api/v2/groups/${group.id}.json`,
    id: group.id,
    is_public: true,
    name: group.name,
    description: '',
    default: false,
    deleted: false,
  };
}

export function viewOrganization(organization: Organization, base: string): object {
  const { id, name, tags } = organization;
  return {
    url: `${base}/api/v2/organizations/${id}.json`,
    id,
    name,
    tags,
    domain_names: [],
    details: '',
    notes: '',
    group_id: null,
    external_id: null,
    organization_fields: {},
  };
}

export function viewField(field: TicketField, base: string): object {
  const { id, title, type, active, required, regexp, tag, agentCanEdit, options } = field;
  const { url, ...rest } = systemField(id, title, type, base);
  const choice = type === 'tagger' || type === 'multiselect';
  const custom = options.map((option, index) => ({
    ...option,
    raw_name: option.name,
    position: index,
    default: false,
  }));
  return {
    url,
    ...rest,
    active,
    required,
    regexp_for_validation: regexp,
    tag,
    removable: true,
    agent_can_edit: agentCanEdit,
    ...(choice ? { custom_field_options: custom } : {}),
  };
}

/** The fields every account has; they can't be removed. */
export function viewSystemFields(base: string): object[] {
  const types = ['subject', 'description', 'status', 'tickettype', 'priority', 'group', 'assignee', 'custom_status'];
  return types.map((type, index) =>
    systemField(100 + index, `${type.charAt(0).toUpperCase()}${type.slice(1)}`, type, base),
  );
}

export function viewAudit(audit: Audit): object {
  return {
    id: audit.id,
    ticket_id: audit.ticketId,
    created_at: toSecond(audit.createdAt),
    author_id: audit.authorId,
    metadata: { system: {}, custom: audit.metadata },
    events: audit.events,
    via: { channel: audit.channel, source: { from: {}, to: {}, rel: null } },
  };
}

function systemField(id: number, title: string, type: string, base: string): Record<string, unknown> {
  return {
    url: `${base}/api/v2/ticket_fields/${id}.json`,
    id,
    type,
    title,
    raw_title: title,
    description: '',
    raw_description: '',
    position: id,
    active: true,
    required: false,
    collapsed_for_agents: false,
    regexp_for_validation: null,
    title_in_portal: title,
    raw_title_in_portal: title,
    visible_in_portal: false,
    editable_in_portal: false,
    required_in_portal: false,
    tag: null,
    removable: false,
    agent_description: null,
  };
}
