import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { ZendeskApi } from './client.ts';

/** Ids are numbers in the API and texts inside closeloop. */
const Id = z.union([z.number(), z.string()]).transform(String);

/** `custom_fields` values: text, number, tick, the tag of an option, tags of several. */
const FieldValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);
export type FieldValue = z.output<typeof FieldValue>;

const MetricSet = z.object({
  ticket_id: Id.nullish(),
  reopens: z.number().nullish(),
  solved_at: z.coerce.date().nullish(),
});
export type MetricSet = z.output<typeof MetricSet>;

const Ticket = z.object({
  id: Id,
  status: z.string(),
  /** As Zendesk wrote it: a guarded update has to name exactly this. */
  updated_at: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
  created_at: z.coerce.date().nullish(),
  subject: z.string().nullish(),
  custom_status_id: Id.nullish(),
  priority: z.string().nullish(),
  type: z.string().nullish(),
  via: z.object({ channel: z.union([z.string(), z.number()]).transform(String).nullish() }).nullish(),
  brand_id: Id.nullish(),
  ticket_form_id: Id.nullish(),
  tags: z.array(z.string()).default([]),
  custom_fields: z.array(z.object({ id: Id, value: FieldValue.catch(null) })).default([]),
  requester_id: Id.nullish(),
  assignee_id: Id.nullish(),
  group_id: Id.nullish(),
  organization_id: Id.nullish(),
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

/** Each ticket is parsed alone, so that one strange ticket doesn't cost the other 99. */
const Page = z.object({
  tickets: z.array(z.object({ id: Id }).loose()),
  users: z.array(User).default([]),
  groups: z.array(Named).default([]),
  organizations: z.array(Named).default([]),
  metric_sets: z.array(MetricSet).default([]),
});

export type TicketResult = { ok: true; ticket: Ticket } | { ok: false; error: CloseloopError };

/** What one call returns, by id. Tickets that don't exist are simply absent. */
export interface TicketPage {
  tickets: ReadonlyMap<string, TicketResult>;
  users: ReadonlyMap<string, User>;
  groups: ReadonlyMap<string, Named>;
  organizations: ReadonlyMap<string, Named>;
  metrics: ReadonlyMap<string, MetricSet>;
}

/** How many tickets one call reads or writes. */
export const batchSize = 100;

/** An id that can be put into a path. */
export function isTicketId(text: string): boolean {
  return /^[1-9]\d{0,14}$/.test(text);
}

/** Up to 100 tickets in one call. `include`: what Zendesk is to send along ("users"). */
export async function showMany(
  api: ZendeskApi,
  ids: readonly string[],
  include: readonly string[] = [],
): Promise<TicketPage> {
  const sideloads = include.length === 0 ? '' : `&include=${include.join(',')}`;
  const page = await api.get(`/api/v2/tickets/show_many.json?ids=${ids.join(',')}${sideloads}`, Page);
  return {
    tickets: new Map(page.tickets.map((raw) => [raw.id, parseTicket(raw)])),
    users: byId(page.users),
    groups: byId(page.groups),
    organizations: byId(page.organizations),
    metrics: new Map(page.metric_sets.flatMap((set) => (set.ticket_id == null ? [] : [[set.ticket_id, set] as const]))),
  };
}

function parseTicket(raw: { id: string }): TicketResult {
  const parsed = Ticket.safeParse(raw);
  if (parsed.success) return { ok: true, ticket: parsed.data };
  const at = parsed.error.issues[0]?.path.join('.') ?? '';
  const message = `Zendesk ticket ${raw.id} differs from Zendesk's documentation at ${at}.`;
  return { ok: false, error: new CloseloopError(message, { kind: 'permanent' }) };
}

function byId<T extends { id: string }>(things: readonly T[]): ReadonlyMap<string, T> {
  return new Map(things.map((thing) => [thing.id, thing]));
}
