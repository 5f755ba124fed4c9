import { z } from 'zod';
import type { RecordState } from '../../core/connector/contract.ts';
import { isFailure, type Rows } from '../../core/connector/desk/rows.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { firstMismatch } from '../../core/mismatches.ts';
import { idText, type ZendeskApi } from './api.ts';
import { fieldValueOf } from './fields.ts';

const id = idText.nullish();
const text = z.string().nullish();

const MetricSet = z.object({
  ticket_id: id,
  reopens: z.number().nullish(),
  /** The number of public replies by agents. */
  replies: z.number().nullish(),
  solved_at: z.coerce.date().nullish(),
});

const Ticket = z.object({
  id: idText,
  /** new, open, pending, hold, solved, closed; deleted in exports. */
  status: z.string(),
  /** The time exactly as Zendesk wrote it, which a guarded update has to repeat. */
  updated_at: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
  created_at: z.coerce.date().nullish(),
  /** The last change of any kind in seconds, including changes by Zendesk's system. Exports are sorted by it. */
  generated_timestamp: z.number().nullish(),
  ...{ subject: text, priority: text, type: text, external_id: orElse(z.string(), null).nullish() },
  via: z.object({ channel: z.union([z.string(), z.number()]).transform(String).nullish() }).nullish(),
  ...{ brand_id: id, ticket_form_id: id, custom_status_id: id },
  ...{ requester_id: id, assignee_id: id, group_id: id, organization_id: id },
  tags: listOf(z.string()).default([]),
  custom_fields: listOf(z.object({ id: idText, value: z.transform(fieldValueOf) })).default([]),
  /** The follow-up tickets of this closed ticket. */
  followup_ids: listOf(idText).default([]),
  metric_set: MetricSet.nullish(),
});
export type Ticket = z.output<typeof Ticket>;

const User = z.object({
  ...{ id: idText, name: text, email: text, phone: text, shared_phone_number: z.boolean().nullish() },
  /** end-user, agent, admin */
  role: text,
  ...{ active: z.boolean().nullish(), suspended: z.boolean().nullish() },
  ...{ locale: text, iana_time_zone: text, user_fields: z.record(z.string(), z.unknown()).nullish() },
});
export type User = z.output<typeof User>;

const named = (id: string, name: string | null | undefined) => ({ id, name: name || undefined });
const Named = z.object({ id: idText, name: text }).transform(({ id, name }) => named(id, name));
type ById<T> = ReadonlyMap<string, T>;
const byId = <Item extends z.ZodType<{ id: string }>>(item: Item) =>
  listOf(item)
    .default([])
    .transform((items): ById<z.output<Item>> => new Map(items.map((one) => [one.id, one])));

/** Names in the account that all tickets share. A custom status has the name that agents see. */
const CustomStatus = z.object({ id: idText, agent_label: text }).transform((one) => named(one.id, one.agent_label));
export const SharedNames = z.object({
  brands: byId(Named),
  ticket_forms: byId(Named),
  custom_statuses: byId(CustomStatus),
});

/** Each ticket is parsed alone, so that a ticket of another shape does not fail the other 99. */
export const Tickets = z.object({
  tickets: listOf(z.transform(parseTicket), 1_000),
  metric_sets: listOf(MetricSet).default([]),
});
const Beside = z.object({ users: byId(User), groups: byId(Named), organizations: byId(Named), ...SharedNames.shape });
const Page = Beside.extend(Tickets.shape);

/** A ticket, and the other objects that Zendesk sent in the same response. */
export interface Row extends Ticket {
  beside: z.output<typeof Beside>;
}

function parseTicket(raw: unknown, context: z.RefinementCtx): readonly [id: string, ticket: Ticket | CloseloopError] {
  const parsed = Ticket.safeParse(raw);
  if (parsed.success) return [parsed.data.id, parsed.data];
  const { data } = z.object({ id: idText }).safeParse(raw);
  if (data === undefined) {
    context.issues.push({ code: 'custom', input: undefined, path: ['id'] });
    return z.NEVER;
  }
  const message = `Zendesk ticket ${data.id} differs from Zendesk's documentation at ${firstMismatch(parsed.error)}.`;
  return [data.id, new CloseloopError(message, { kind: 'permanent' })];
}

/** The tickets of a page by id, each with `more` and with its metric set, which is in a list beside the tickets, or within the ticket. */
export function ticketsOf<More extends object>(
  page: z.output<typeof Tickets>,
  more: More,
): Map<string, (Ticket & More) | CloseloopError> {
  const metrics = new Map(page.metric_sets.map((set) => [set.ticket_id, set]));
  const whole = (one: Ticket) => ({ ...one, metric_set: one.metric_set ?? metrics.get(one.id), ...more });
  return new Map(page.tickets.map(([id, read]) => [id, isFailure(read) ? read : whole(read)]));
}

/** How many tickets one call reads or writes. */
export const batchSize = 100;

/** Whether the text is an id that may be put into a path. */
export const isTicketId = (text: string): boolean => /^[1-9]\d{0,14}$/.test(text);

/** The side-loads for rules, and the metrics that distinguish closings. */
const everything = 'users,groups,organizations,metric_sets,brands,ticket_forms,custom_statuses';

/** Reads tickets, 100 per call. Deleted tickets are absent. @param include side-loads ("users"); '' for none */
export const ticketRows = (api: ZendeskApi, include = everything) => ({
  ...{ isId: isTicketId, size: batchSize },
  async many(ids: readonly string[]): Promise<Rows<Row>> {
    if (ids.length === 0) return new Map();
    const sideloads = include === '' ? '' : `&include=${include}`;
    const page = await api.get(`/api/v2/tickets/show_many.json?ids=${ids.join(',')}${sideloads}`, Page);
    const rows = ticketsOf(page, { beside: page });
    for (const [id, row] of rows) if (!isFailure(row) && row.status === 'deleted') rows.delete(id);
    return rows;
  },
});

/** Reads up to 100 users in one call, none without ids; deleted users are absent. */
export async function showUsers(api: ZendeskApi, ids: readonly string[]): Promise<ById<User>> {
  if (ids.length === 0) return new Map();
  return (await api.get(`/api/v2/users/show_many.json?ids=${ids.join(',')}`, z.object({ users: byId(User) }))).users;
}

type Requester = Pick<User, 'role' | 'active' | 'suspended'>;

/**
 * The state of a ticket. Solved and closed both count as closed: the move from solved to closed, days later, belongs to the same closing, and
 * so does a change of the custom status. Reopening and closing again is another closing.
 *
 * A closing is named after the number of reopenings before it. If Zendesk sends no metric set all closings have the name of the first:
 * closeloop may then not ask about a ticket that is solved again, but it asks no customer twice about one closing.
 *
 * closeloop's tags (`fb_…`) do not matter: a follow-up ticket begins with the tags of its parent.
 * Source of the cases: facts on Zendesk, section 2.
 * @param requester the user to ask; undefined for a deleted user; 'unread' if not read
 */
export function stateOf(ticket: Ticket, requester: Requester | undefined | 'unread'): RecordState {
  const why = whyNever(ticket, requester);
  if (!isDone(ticket.status)) return why === gone ? { is: 'out', why } : { is: 'open' };
  if (why !== undefined) return { is: 'out', why };
  const { reopens, solved_at: solvedAt } = ticket.metric_set ?? {};
  return { is: 'closed', closing: `r${reopens ?? 0}`, closedAt: solvedAt ?? new Date(ticket.updated_at) };
}

const gone = 'the ticket was deleted';

const ours = 'closeloop ';
/** The external id of a ticket that closeloop creates. @param marker the marker of the action */
export const externalIdOf = (marker: string): string => `${ours}${marker}`.slice(0, 255);

function whyNever({ status, tags, external_id }: Ticket, requester: Parameters<typeof stateOf>[1]): string | undefined {
  if (status === 'deleted' || status === 'scrubbed') return gone;
  // A ticket that closeloop created because of an answer leads to no other feedback request.
  if (external_id?.startsWith(ours)) return 'closeloop made the ticket, to follow up on a closed one';
  // The ticket was merged into another ticket, which has a closing of its own. Merging closes a ticket at once, so a solved ticket with this tag is a
  // follow-up ticket, and has the tag from its merged parent.
  if (tags.includes('closed_by_merge') && status !== 'solved') return 'the ticket was merged into another one';
  if (requester === 'unread') return undefined;
  if (requester === undefined) return 'the requester does not exist any more';
  if (requester.active === false) return 'the requester was deleted';
  // Marking a ticket as spam suspends its requester.
  if (requester.suspended === true) return 'the requester is suspended (spam)';
  // Side conversations and tickets between colleagues have a requester who is no customer.
  if (requester.role !== 'end-user') return 'the requester is not a customer but an agent';
  return undefined;
}

/** Whether a ticket with this status is closed. Archiving moves old closed tickets to slower storage, and changes nothing else. */
export const isDone = (status: string): boolean => ['solved', 'closed', 'archived'].includes(status.toLowerCase());
