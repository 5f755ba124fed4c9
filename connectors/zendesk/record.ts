import { chunks } from '../../core/connector/batches.ts';
import { type Cached, cached } from '../../core/connector/cached.ts';
import { namesOf } from '../../core/connector/check.ts';
import type { ConnectorPorts, PresentedRecord, ReadResult, Source } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { adviceOf } from '../../core/errors.ts';
import type { ZendeskApi } from './api.ts';
import { closingOf, type TicketFacts } from './closing.ts';
import { type Catalogue, cacheMs, type FieldOption } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import {
  batchSize,
  type FieldValue,
  isTicketId,
  listNames,
  type MetricSet,
  type Named,
  type NameList,
  showMany,
  Ticket,
  type TicketPage,
} from './ticket.ts';

type Absent<T> = T | undefined;

/**
 * What rules and mappings see of a ticket. Ids are texts; what a ticket doesn't have is left out.
 * Examples: `ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)`, `ticket.brand.name = "Acme Outlet"`,
 * `ticket.customStatus.name != "Closed without contact"`.
 */
export interface ZendeskShape {
  ticket: {
    id: string;
    subject: Absent<string>;
    /** new, open, pending, hold, solved, closed: the category, whatever custom statuses are called. */
    status: string;
    /** Its name is what agents see, like "Waiting for parts". */
    customStatus: Absent<Thing>;
    /** low, normal, high, urgent */
    priority: Absent<string>;
    /** question, incident, problem, task */
    type: Absent<string>;
    /** How it came in: email, web, voice, chat, api … */
    channel: Absent<string>;
    brand: Absent<Thing>;
    form: Absent<Thing>;
    tags: string[];
    /**
     * Values of custom fields, by name and by id: field 360001 "Store" is `ticket.fields.store` and, in backticks,
     * ticket.fields.`360001`. A dropdown gives the tag of its option.
     */
    fields: Record<string, FieldValue>;
    /** The same for dropdowns and multi-selects only, with the options' names as agents see them. */
    labels: Record<string, string | string[]>;
    /** ISO 8601, UTC. */
    createdAt: Absent<string>;
    /** Public replies by agents. */
    replies: Absent<number>;
    /** When it was last solved, or closed without that. */
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
  /** Left out where Zendesk doesn't tell it. */
  name: Absent<string>;
}

/** Side-loads for rules, and the metrics that distinguish closings. */
const sideloads = ['users', 'groups', 'organizations', 'metric_sets', 'brands', 'ticket_forms', 'custom_statuses'];

/**
 * Reads tickets, 100 per call, with requesters and metrics, on which the state depends, and names that Zendesk didn't side-load. Deleted
 * tickets are absent, or have the status `deleted`.
 */
export function reader(
  { subdomain }: Pick<ZendeskSettings, 'subdomain'>,
  api: ZendeskApi,
  catalogue: Cached<Catalogue>,
  ports: Pick<ConnectorPorts, 'now' | 'log'>,
): Source<ZendeskShape>['read'] {
  const withNames = nameReader(api, subdomain, ports);
  return async (recordIds) => {
    const ids = [...new Set(recordIds)].filter(isTicketId);
    const results = new Map<string, ReadResult<ZendeskShape>>();
    for (const some of chunks(ids, batchSize)) {
      const fields = await catalogue();
      const page = await withNames(await showMany(api, some, sideloads));
      for (const [id, read] of page.tickets) {
        if (!read.ok) results.set(id, { ok: false, why: 'error', error: read.error });
        else if (read.ticket.status !== 'deleted')
          results.set(id, { ok: true, record: present(read.ticket, page, fields) });
      }
    }
    return recordIds.map((id) => results.get(id) ?? { ok: false, why: 'not-found' });
  };
}

/** The ticket's id in each list. */
const idIn: Readonly<Record<NameList, (ticket: Ticket) => string | null | undefined>> = {
  brands: (ticket) => ticket.brand_id,
  ticket_forms: (ticket) => ticket.ticket_form_id,
  custom_statuses: (ticket) => ticket.custom_status_id,
};
const lists = ['brands', 'ticket_forms', 'custom_statuses'] as const;

/** Adds to a page the names of brands, forms and custom statuses that Zendesk didn't send along with it. */
function nameReader(
  api: ZendeskApi,
  subdomain: string,
  ports: Pick<ConnectorPorts, 'now' | 'log'>,
): (page: TicketPage) => Promise<TicketPage> {
  const read = async (list: NameList): Promise<ReadonlyMap<string, Named>> => {
    try {
      return await listNames(api, list);
    } catch (error) {
      // The account may not have the list, or refuse it: tickets are presented with the ids alone.
      if (adviceOf(error).kind === 'transient') throw error;
      ports.log.warn({ subdomain, list }, 'names that Zendesk does not tell us are left out');
      return new Map();
    }
  };
  const namesOf = {
    brands: nameLists('brands'),
    ticket_forms: nameLists('ticket_forms'),
    custom_statuses: nameLists('custom_statuses'),
  };
  function nameLists(list: NameList) {
    return cached(() => read(list), cacheMs, ports.now);
  }

  return async (page) => {
    const tickets = [...page.tickets.values()].flatMap((read) => (read.ok ? [read.ticket] : []));
    const names = { ...page.names };
    for (const list of lists) {
      const isKnown = (ticket: Ticket): boolean => {
        const id = idIn[list](ticket);
        return id == null || names[list].has(id);
      };
      if (!tickets.every(isKnown)) names[list] = new Map([...(await namesOf[list]()), ...names[list]]);
    }
    return { ...page, names };
  };
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
    state: closingOf(factsOf(ticket, requester, metrics)),
    shape: {
      ticket: {
        id: ticket.id,
        subject: text(ticket.subject),
        status: ticket.status,
        customStatus: named(page.names.custom_statuses, ticket.custom_status_id),
        priority: text(ticket.priority),
        type: text(ticket.type),
        channel: text(ticket.via?.channel),
        brand: named(page.names.brands, ticket.brand_id),
        form: named(page.names.ticket_forms, ticket.ticket_form_id),
        tags: ticket.tags,
        ...presentFields(ticket, catalogue),
        createdAt: ticket.created_at?.toISOString(),
        replies: metrics?.replies ?? undefined,
        solvedAt: metrics?.solved_at?.toISOString(),
        group: known(page.groups, ticket.group_id),
        organization: known(page.organizations, ticket.organization_id),
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
    ...customerOf({ personId: requester?.id, timeZone, locale }),
  };
}

/** What `closingOf` decides by. */
export function factsOf(
  ticket: Ticket,
  requester: TicketFacts['requester'],
  metrics: MetricSet | undefined,
): TicketFacts {
  return {
    status: ticket.status,
    tags: ticket.tags,
    externalId: ticket.external_id,
    requester,
    reopens: metrics?.reopens ?? undefined,
    solvedAt: metrics?.solved_at ?? undefined,
    changedAt: new Date(ticket.updated_at),
  };
}

function presentFields(ticket: Ticket, { byId, slugs }: Catalogue): Pick<ZendeskShape['ticket'], 'fields' | 'labels'> {
  const fields: Record<string, FieldValue> = {};
  const labels: Record<string, string | string[]> = {};
  for (const { id, value } of ticket.custom_fields) {
    if (value === null || value === '') continue;
    const label = labelOf(value, byId.get(id)?.custom_field_options ?? []);
    for (const name of [id, slugs.get(id)]) {
      if (name === undefined) continue;
      fields[name] = value;
      if (label !== undefined) labels[name] = label;
    }
  }
  return { fields, labels };
}

function labelOf(value: FieldValue, options: readonly FieldOption[]): string | string[] | undefined {
  if (options.length === 0) return undefined;
  const name = (tag: string) => options.findLast((option) => option.value === tag)?.name ?? tag;
  if (Array.isArray(value)) return value.map(name);
  return typeof value === 'string' ? name(value) : undefined;
}

const text = (value: string | null | undefined): Absent<string> => (value === null || value === '' ? undefined : value);

function known(things: ReadonlyMap<string, Named>, id: string | null | undefined): Absent<Thing> {
  const found = lookUp(things, id);
  return found && { id: found.id, name: text(found.name) };
}

/** The id tells something even where its name can't be read. */
function named(names: ReadonlyMap<string, Named>, id: string | null | undefined): Absent<Thing> {
  return id == null ? undefined : { id, name: text(names.get(id)?.name) };
}

function lookUp<T>(things: ReadonlyMap<string, T>, id: string | null | undefined): Absent<T> {
  return id == null ? undefined : things.get(id);
}

const none = new Map<string, never>();
const somebody = { id: '1' };

/** For `check`. Fields may have any names. */
export const shapeNames = namesOf(
  present(
    Ticket.parse({ ...somebody, status: 'new', updated_at: '1970-01-01', requester_id: 1, assignee_id: 1 }),
    {
      ...{ tickets: none, groups: none, organizations: none, metrics: none, users: new Map([['1', somebody]]) },
      names: { brands: none, ticket_forms: none, custom_statuses: none },
    },
    { byId: none, slugs: none },
  ).shape,
);
