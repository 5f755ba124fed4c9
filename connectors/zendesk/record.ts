import type { PresentedRecord, RecordState } from '../../core/connector.ts';
import type { Catalogue } from './fields.ts';
import type { FieldValue, MetricSet, Named, Ticket, TicketPage, User } from './ticket.ts';

type Absent<T> = T | undefined;

/**
 * What rules and mappings see of a ticket. Ids are texts; what a ticket doesn't have is left out.
 * Example: `ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)`.
 */
export interface ZendeskShape {
  ticket: {
    id: string;
    subject: Absent<string>;
    /** new, open, pending, hold, solved, closed: the category, whatever custom statuses are called. */
    status: string;
    customStatusId: Absent<string>;
    /** low, normal, high, urgent */
    priority: Absent<string>;
    /** question, incident, problem, task */
    type: Absent<string>;
    /** How it came in: email, web, voice, chat, api … */
    channel: Absent<string>;
    brandId: Absent<string>;
    formId: Absent<string>;
    tags: string[];
    /**
     * Values of custom fields, by name and by id: field 360001 "Store" is `ticket.fields.store` and, in backticks,
     * ticket.fields.`360001`. A dropdown gives the tag of its option. How names are made: `catalogueOf` in fields.ts.
     */
    fields: Record<string, FieldValue>;
    /** The same for dropdowns and multi-selects only, with the options' names as agents see them. */
    labels: Record<string, string | string[]>;
    /** ISO 8601, UTC. */
    createdAt: Absent<string>;
    solvedAt: Absent<string>;
    group: Absent<Thing>;
    organization: Absent<Thing>;
  };
  /** Whose ticket it is, and who is asked; not the one who typed it. */
  requester: Absent<{
    id: string;
    name: Absent<string>;
    /** The primary address. */
    email: Absent<string>;
    /** Left out when several people share it. */
    phone: Absent<string>;
    /** BCP 47. */
    locale: Absent<string>;
    /** IANA. */
    timeZone: Absent<string>;
    /** User fields, by their key. */
    fields: Record<string, unknown>;
  }>;
  assignee: Absent<{ id: string; name: Absent<string>; email: Absent<string> }>;
}

interface Thing {
  id: string;
  name: Absent<string>;
}

/** A ticket of `page`, presented. */
export function present(ticket: Ticket, page: TicketPage, catalogue: Catalogue): PresentedRecord<ZendeskShape> {
  const requester = lookUp(page.users, ticket.requester_id);
  const assignee = lookUp(page.users, ticket.assignee_id);
  const metrics = ticket.metric_set ?? page.metrics.get(ticket.id);
  const timeZone = text(requester?.iana_time_zone);
  const locale = text(requester?.locale);
  return {
    id: ticket.id,
    // A merged ticket doesn't say into which.
    currentId: ticket.id,
    state: stateOf(ticket, requester, metrics),
    shape: {
      ticket: {
        id: ticket.id,
        subject: text(ticket.subject),
        status: ticket.status,
        customStatusId: text(ticket.custom_status_id),
        priority: text(ticket.priority),
        type: text(ticket.type),
        channel: text(ticket.via?.channel),
        brandId: text(ticket.brand_id),
        formId: text(ticket.ticket_form_id),
        tags: ticket.tags,
        ...presentFields(ticket, catalogue),
        createdAt: ticket.created_at?.toISOString(),
        solvedAt: metrics?.solved_at?.toISOString(),
        group: thing(lookUp(page.groups, ticket.group_id)),
        organization: thing(lookUp(page.organizations, ticket.organization_id)),
      },
      requester: requester && {
        id: requester.id,
        name: text(requester.name),
        email: text(requester.email),
        phone: requester.shared_phone_number === true ? undefined : text(requester.phone),
        locale,
        timeZone,
        fields: requester.user_fields ?? {},
      },
      assignee: assignee && { id: assignee.id, name: text(assignee.name), email: text(assignee.email) },
    },
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(locale === undefined ? {} : { locale }),
  };
}

/**
 * Closed is solved or closed: the move from one to the other, days later, is the same closing.
 * A closing is named after the number of reopenings before it. Where Zendesk sends no metric set we can't tell closings
 * apart and call each the first: a re-solved ticket may then not ask again, but nobody is asked twice for one closing.
 */
export function stateOf(ticket: Ticket, requester: User | undefined, metrics: MetricSet | undefined): RecordState {
  if (ticket.status !== 'solved' && ticket.status !== 'closed') return { is: 'open' };
  const why = whyNever(ticket, requester);
  if (why !== undefined) return { is: 'out', why };
  return {
    is: 'closed',
    closing: `r${metrics?.reopens ?? 0}`,
    closedAt: metrics?.solved_at ?? new Date(ticket.updated_at),
  };
}

function whyNever(ticket: Ticket, requester: User | undefined): string | undefined {
  if (ticket.tags.includes('closed_by_merge')) return 'the ticket was merged into another one';
  if (requester === undefined) return 'the requester does not exist any more';
  if (requester.active === false) return 'the requester was deleted';
  // Marking a ticket as spam suspends its requester.
  if (requester.suspended === true) return 'the requester is suspended (spam)';
  // Side conversations and tickets between colleagues.
  if (requester.role !== 'end-user') return 'the requester is not a customer but an agent';
  return undefined;
}

function presentFields(ticket: Ticket, { byId, slugs }: Catalogue): Pick<ZendeskShape['ticket'], 'fields' | 'labels'> {
  const fields: Record<string, FieldValue> = {};
  const labels: Record<string, string | string[]> = {};
  for (const { id, value } of ticket.custom_fields) {
    if (value === null || value === '') continue;
    const names = [id, slugs.get(id)].filter((name) => name !== undefined);
    const options = new Map(byId.get(id)?.custom_field_options?.map((option) => [option.value, option.name]));
    const label = options.size === 0 ? undefined : labelOf(value, options);
    for (const name of names) {
      fields[name] = value;
      if (label !== undefined) labels[name] = label;
    }
  }
  return { fields, labels };
}

function labelOf(value: FieldValue, options: ReadonlyMap<string, string>): string | string[] | undefined {
  if (Array.isArray(value)) return value.map((tag) => options.get(tag) ?? tag);
  return typeof value === 'string' ? (options.get(value) ?? value) : undefined;
}

const text = (value: string | null | undefined): Absent<string> => (value === null || value === '' ? undefined : value);
const thing = (named: Named | undefined): Absent<Thing> => named && { id: named.id, name: text(named.name) };

function lookUp<T>(things: ReadonlyMap<string, T>, id: string | null | undefined): Absent<T> {
  return id == null ? undefined : things.get(id);
}
