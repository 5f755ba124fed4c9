import { z } from 'zod';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { firstMismatch } from '../../core/mismatches.ts';
import type { ZendeskApi } from './api.ts';
import type { Via } from './quota.ts';

/** Ids are numbers in the API and strings in closeloop. */
const Id = z.transform((value, context): string => {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  context.issues.push({ code: 'custom', input: value });
  return z.NEVER;
});

/** `custom_fields` values: text, number, tick, the tag of an option, tags of several. */
export type FieldValue = string | number | boolean | string[] | null;

/** A value that Zendesk's documentation knows nothing of counts as empty. */
export function fieldValueOf(value: unknown): FieldValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : null;
}

const MetricSet = z.object({
  ticket_id: Id.nullish(),
  reopens: z.number().nullish(),
  /** Public ones, by agents. */
  replies: z.number().nullish(),
  solved_at: z.coerce.date().nullish(),
});
export type MetricSet = z.output<typeof MetricSet>;

export const Ticket = z.object({
  id: Id,
  status: z.string(),
  /** As Zendesk wrote it: a guarded update has to name exactly this. */
  updated_at: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
  created_at: z.coerce.date().nullish(),
  /** Seconds: the last change of any kind, the system's own included. Exports are sorted by it. */
  generated_timestamp: z.number().nullish(),
  subject: z.string().nullish(),
  custom_status_id: Id.nullish(),
  priority: z.string().nullish(),
  type: z.string().nullish(),
  via: z.object({ channel: z.union([z.string(), z.number()]).transform(String).nullish() }).nullish(),
  brand_id: Id.nullish(),
  ticket_form_id: Id.nullish(),
  tags: listOf(z.string()).default([]),
  custom_fields: listOf(z.object({ id: Id, value: z.transform(fieldValueOf) })).default([]),
  requester_id: Id.nullish(),
  assignee_id: Id.nullish(),
  group_id: Id.nullish(),
  organization_id: Id.nullish(),
  external_id: orElse(z.string(), null).nullish(),
  /** Tickets that follow up on it, which is closed. */
  followup_ids: listOf(Id).default([]),
  /** A sideloaded metric set is embedded in its ticket. */
  metric_set: MetricSet.nullish(),
});
export type Ticket = z.output<typeof Ticket>;

const User = z.object({
  id: Id,
  name: z.string().nullish(),
  email: z.string().nullish(),
  phone: z.string().nullish(),
  shared_phone_number: z.boolean().nullish(),
  role: z.string().nullish(),
  active: z.boolean().nullish(),
  suspended: z.boolean().nullish(),
  locale: z.string().nullish(),
  iana_time_zone: z.string().nullish(),
  user_fields: z.record(z.string(), z.unknown()).nullish(),
});
export type User = z.output<typeof User>;

const Named = z.object({ id: Id, name: z.string().nullish() });
export type Named = z.output<typeof Named>;

/** The account's names for all tickets. A custom status has the name that agents see. */
const Names = z.object({
  brands: listOf(Named).default([]),
  ticket_forms: listOf(Named).default([]),
  custom_statuses: listOf(
    z.object({ id: Id, agent_label: z.string().nullish() }).transform((one) => ({ id: one.id, name: one.agent_label })),
  ).default([]),
});
export type NameList = keyof typeof Names.shape;

/** Each ticket is parsed alone, so that a ticket of another shape doesn't fail the other 99. */
const Tickets = listOf(z.transform(parseTicket), 1_000);
const Identified = z.object({ id: Id });

const Page = z.object({
  tickets: Tickets,
  users: listOf(User).default([]),
  groups: listOf(Named).default([]),
  organizations: listOf(Named).default([]),
  metric_sets: listOf(MetricSet).default([]),
  ...Names.shape,
});

export type TicketResult = { ok: true; ticket: Ticket } | { ok: false; id: string; error: CloseloopError };

/** The result of one call, by id. Missing tickets are absent. */
export interface TicketPage {
  tickets: ReadonlyMap<string, TicketResult>;
  users: ReadonlyMap<string, User>;
  groups: ReadonlyMap<string, Named>;
  organizations: ReadonlyMap<string, Named>;
  metrics: ReadonlyMap<string, MetricSet>;
  names: Readonly<Record<NameList, ReadonlyMap<string, Named>>>;
}

/** How many tickets one call reads or writes. */
export const batchSize = 100;

/** An id that can be put into a path. */
export function isTicketId(text: string): boolean {
  return /^[1-9]\d{0,14}$/.test(text);
}

/** Reads up to 100 tickets in one call. `include`: side-loads ("users"). */
export async function showMany(
  api: ZendeskApi,
  ids: readonly string[],
  include: readonly string[] = [],
): Promise<TicketPage> {
  const sideloads = include.length === 0 ? '' : `&include=${include.join(',')}`;
  const page = await api.get(`/api/v2/tickets/show_many.json?ids=${ids.join(',')}${sideloads}`, Page);
  return {
    tickets: new Map(page.tickets.map((read) => [read.ok ? read.ticket.id : read.id, read])),
    users: byId(page.users),
    groups: byId(page.groups),
    organizations: byId(page.organizations),
    metrics: metricsOf(page.metric_sets),
    names: {
      brands: byId(page.brands),
      ticket_forms: byId(page.ticket_forms),
      custom_statuses: byId(page.custom_statuses),
    },
  };
}

/** All of an account's brands, forms or custom statuses. */
export async function listNames(api: ZendeskApi, list: NameList): Promise<ReadonlyMap<string, Named>> {
  return byId((await api.get(`/api/v2/${list}.json`, Names))[list]);
}

const metricsOf = (sets: readonly MetricSet[]): ReadonlyMap<string, MetricSet> =>
  new Map(sets.flatMap((set) => (set.ticket_id == null ? [] : [[set.ticket_id, set] as const])));

function parseTicket(raw: unknown, context: z.RefinementCtx): TicketResult {
  const parsed = Ticket.safeParse(raw);
  if (parsed.success) return { ok: true, ticket: parsed.data };
  const identified = Identified.safeParse(raw);
  if (!identified.success) {
    context.issues.push({ code: 'custom', input: undefined, path: ['id'] });
    return z.NEVER;
  }
  const { id } = identified.data;
  const at = firstMismatch(parsed.error);
  const message = `Zendesk ticket ${id} differs from Zendesk's documentation at ${at}.`;
  return { ok: false, id, error: new CloseloopError(message, { kind: 'permanent' }) };
}

function byId<T extends { id: string }>(things: readonly T[]): ReadonlyMap<string, T> {
  return new Map(things.map((thing) => [thing.id, thing]));
}

/** Reads up to 100 users in one call, none without ids; deleted users are absent. */
export async function showUsers(api: ZendeskApi, ids: readonly string[]): Promise<ReadonlyMap<string, User>> {
  if (ids.length === 0) return new Map();
  const page = await api.get(`/api/v2/users/show_many.json?ids=${ids.join(',')}`, z.object({ users: listOf(User) }));
  return byId(page.users);
}

const ExportPage = z.object({
  tickets: Tickets,
  metric_sets: listOf(MetricSet).default([]),
  after_cursor: z.string().nullish(),
  end_of_stream: z.boolean().nullish(),
});

/** Tickets in the order in which Zendesk changed them, deleted ones included. */
export interface TicketExport {
  tickets: TicketResult[];
  metrics: ReadonlyMap<string, MetricSet>;
  /** Left out where there is nothing yet. */
  cursor?: string;
  done: boolean;
}

/** The next 1,000 tickets after a cursor, or after an instant that must be over a minute ago. For admins only. */
export async function exportTickets(
  api: ZendeskApi,
  from: { cursor: string } | { startSeconds: number },
  via: Via,
): Promise<TicketExport> {
  const where = 'cursor' in from ? `cursor=${encodeURIComponent(from.cursor)}` : `start_time=${from.startSeconds}`;
  const path = `/api/v2/incremental/tickets/cursor.json?${where}&include=metric_sets`;
  const page = await api.get(path, ExportPage, via);
  return {
    tickets: page.tickets,
    metrics: metricsOf(page.metric_sets),
    done: page.end_of_stream !== false,
    ...(page.after_cursor != null && page.after_cursor !== '' && { cursor: page.after_cursor }),
  };
}
