import { cached } from '../../core/connector/cached.ts';
import { namesOf } from '../../core/connector/check.ts';
import { customerOf } from '../../core/connector/customer.ts';
import type { DeskReading } from '../../core/connector/desk/desk.ts';
import type { FieldSuggestion } from '../../core/connector/onboarding.ts';
import { adviceOf } from '../../core/errors.ts';
import { type Account, cacheMs, type Field, type FieldOption, type FieldValue } from './fields.ts';
import { type Row, SharedNames, stateOf, type Ticket } from './ticket.ts';

type Absent<T> = T | undefined;

/**
 * A ticket as rules and mappings see it. Ids are texts; missing values are left out.
 * Examples: `ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)`, `ticket.brand.name = "Acme Outlet"`, `ticket.customStatus.name
 * != "Closed without contact"`.
 */
export interface ZendeskShape {
  ticket: {
    id: string;
    subject: Absent<string>;
    /** The category: new, open, pending, hold, solved or closed, whatever names the custom statuses have. */
    status: string;
    /** The custom status, with the name that agents see, like "Waiting for parts". */
    customStatus: Absent<Thing>;
    /** low, normal, high, urgent */
    priority: Absent<string>;
    /** question, incident, problem, task */
    type: Absent<string>;
    /** The channel of the ticket: email, web, voice, chat, api … */
    channel: Absent<string>;
    brand: Absent<Thing>;
    form: Absent<Thing>;
    tags: string[];
    /**
     * Values of custom fields, by name and by id: field 360001 "Store" is `ticket.fields.store` and, in backticks,
     * ticket.fields.`360001`. A dropdown gives the tag of its option.
     */
    fields: Record<string, FieldValue>;
    /** The values of dropdowns and multi-selects, as the options' names that agents see. */
    labels: Record<string, string | string[]>;
    /** ISO 8601, UTC. */
    createdAt: Absent<string>;
    /** The number of public replies by agents. */
    replies: Absent<number>;
    /** When the ticket was last solved, or closed without being solved. */
    solvedAt: Absent<string>;
    group: Absent<Thing>;
    organization: Absent<Thing>;
  };
  /** The owner of the ticket, whom closeloop asks; not the person who typed it. */
  requester: Absent<{
    id: string;
    name: Absent<string>;
    /** The user's primary address. */
    email: Absent<string>;
    /** Left out if several people share the number. */
    phone: Absent<string>;
    /** BCP 47. */
    locale: Absent<string>;
    /** IANA. */
    timeZone: Absent<string>;
    /** User fields by their key. */
    fields: Record<string, unknown>;
  }>;
  assignee: Absent<{ id: string; name: Absent<string>; email: Absent<string> }>;
}

interface Thing {
  id: string;
  /** Left out if Zendesk does not return the name. */
  name: Absent<string>;
}

type Names = ReadonlyMap<string, Thing>;
const none: Names = new Map();

/** The ticket's member with the id for each list of names. */
const idIn = { brands: 'brand_id', ticket_forms: 'ticket_form_id', custom_statuses: 'custom_status_id' } as const;
const lists = ['brands', 'ticket_forms', 'custom_statuses'] as const;
type NameList = (typeof lists)[number];

/** Presents tickets as rules read them, with the names of brands, forms and custom statuses that Zendesk didn't send with the tickets. */
export function presenter({ settings, api, kinds, ports }: Account): DeskReading<Row, ZendeskShape>['present'] {
  async function read(list: NameList): Promise<Names> {
    try {
      return (await api.get(`/api/v2/${list}.json`, SharedNames))[list];
    } catch (error) {
      // The account may not have the list, or may refuse it: then tickets are presented with only the ids.
      if (adviceOf(error).kind === 'transient') throw error;
      ports.log.warn({ subdomain: settings.subdomain, list }, 'names that Zendesk does not tell us are left out');
      return none;
    }
  }
  const namesIn = lists.map((list) => ({ list, names: cached(() => read(list), cacheMs, ports.now) }));
  let catalogue = catalogueOf([]);
  return async (rows) => {
    const fields = await kinds.tickets.fields();
    if (catalogue.fields !== fields) catalogue = catalogueOf(fields);
    const others = new Map<NameList, Names>();
    for (const { list, names } of namesIn) {
      const isUnnamed = ({ beside, [idIn[list]]: id }: Row): boolean => id != null && !beside[list].has(id);
      if (rows.some(isUnnamed)) others.set(list, await names());
    }
    return (row) => present(row, catalogue, others);
  };
}

/** @param others names that Zendesk didn't send with the ticket */
export function present(ticket: Row, catalogue: Catalogue, others: ReadonlyMap<NameList, Names> = new Map()) {
  const { beside, metric_set: metrics } = ticket;
  const [requester, assignee] = [ticket.requester_id, ticket.assignee_id].map((id) => beside.users.get(id ?? ''));
  const [timeZone, locale] = [text(requester?.iana_time_zone), text(requester?.locale)];
  // The id is useful even without the name.
  const named = (list: NameList): Absent<Thing> => {
    const id = ticket[idIn[list]];
    return id == null ? undefined : (beside[list].get(id) ?? others.get(list)?.get(id) ?? { id, name: undefined });
  };
  const shape: ZendeskShape = {
    ticket: {
      ...{ id: ticket.id, subject: text(ticket.subject), status: ticket.status },
      ...{ customStatus: named('custom_statuses'), priority: text(ticket.priority), type: text(ticket.type) },
      ...{ channel: text(ticket.via?.channel), brand: named('brands'), form: named('ticket_forms') },
      ...{ tags: ticket.tags, ...presentFields(ticket, catalogue), createdAt: ticket.created_at?.toISOString() },
      ...{ replies: metrics?.replies ?? undefined, solvedAt: metrics?.solved_at?.toISOString() },
      group: beside.groups.get(ticket.group_id ?? ''),
      organization: beside.organizations.get(ticket.organization_id ?? ''),
    },
    requester: requester && {
      ...{ id: requester.id, name: text(requester.name), email: text(requester.email) },
      phone: requester.shared_phone_number === true ? undefined : text(requester.phone),
      ...{ locale, timeZone, fields: requester.user_fields ?? {} },
    },
    assignee: assignee && { id: assignee.id, name: text(assignee.name), email: text(assignee.email) },
  };
  // A merged ticket does not name the surviving ticket.
  const customer = customerOf({ personId: requester?.id, timeZone, locale });
  return { state: stateOf(ticket, requester), shape, ...customer };
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

/** The account's ticket fields as expressions read them. */
export interface Catalogue {
  fields: readonly Field[];
  byId: ReadonlyMap<string, Field>;
  /** Names in expressions by field id, for fields with a name of their own. */
  slugs: ReadonlyMap<string, string>;
}

/**
 * The fields by their names in expressions. A name is the field's title in small letters with `_` between words: "Order No." is `order_no`.
 * If two titles give the same name an active field wins over an inactive one, then the older field (the lower id): a field that is added later
 * can't take the name away from a rule in use. A field's id is a name as well.
 */
export function catalogueOf(fields: readonly Field[]): Catalogue {
  const inactive = (field: Field): number => (field.active === false ? 1 : 0);
  const oldestFirst = fields.toSorted((a, b) => inactive(a) - inactive(b) || Number(a.id) - Number(b.id));
  const owners = new Map<string, string>();
  for (const { id, title } of oldestFirst) {
    const slug = slugOf(title ?? '');
    if (slug !== '' && !owners.has(slug)) owners.set(slug, id);
  }
  return {
    fields,
    byId: new Map(fields.map((field) => [field.id, field])),
    slugs: new Map([...owners].map(([slug, id]) => [id, slug])),
  };
}

/** The fields that the account has added, as expressions read them. */
export function suggestionsOf({ fields, slugs }: Catalogue): FieldSuggestion[] {
  const own = fields.filter(({ active, removable }) => active !== false && removable !== false);
  return own.map(({ id, title }) => {
    const slug = slugs.get(id);
    const name = slug !== undefined && /^[a-z]\w*$/.test(slug) ? slug : `\`${id}\``;
    return { name: `ticket field "${title ?? id}"`, expression: `ticket.fields.${name}` };
  });
}

/** A limit above the length of Zendesk's titles, because normalising many accents takes quadratic time. */
const longestTitle = 1_000;

/** The name for a title. Keeps letters of every script, and drops accents, which people type in different ways: "Größe (cm)" is `grosse_cm`. */
export function slugOf(title: string): string {
  return title
    .slice(0, longestTitle)
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
}

const beside = { groups: none, organizations: none, brands: none, ticket_forms: none, custom_statuses: none };
const users = new Map([['1', { id: '1' }]]);

/** The names that `check` compares expressions with. Fields may have any names. */
export const shapeNames = namesOf(
  present(
    {
      ...{ id: '1', status: 'new', updated_at: '1970-01-01', requester_id: '1', assignee_id: '1' },
      ...{ tags: [], custom_fields: [], followup_ids: [], beside: { ...beside, users } },
    },
    catalogueOf([]),
  ).shape,
);
