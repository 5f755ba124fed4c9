import { ok, Problem, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { badRequest, type Context, forbidden, idsOf, paged } from './context.ts';
import type { Ticket } from './definitions.ts';
import { visibleTicket } from './ticket-body.ts';
import { viewAudit, viewGroup, viewMetricSet, viewOrganization, viewTicket, viewUser } from './views.ts';

const one = '/api/v2/tickets/{id:\\d+}';

/** The endpoints that read tickets, and the brands, forms and custom statuses of the account. */
export const ticketRoutes: Route<Context>[] = [
  route('GET', '/api/v2/tickets/show_many', showMany),
  route('GET', one, (context, params) => show(context, here(context, params))),
  route('GET', `${one}/audits`, (context, params) =>
    ok(paged(context, 'audits', here(context, params).audits.map(viewAudit))),
  ),
  route('GET', '/api/v2/incremental/tickets/cursor', incremental),
  route('GET', '/api/v2/brands', (context) => ok({ brands: brands(context), count: context.store.brands.size })),
  route('GET', '/api/v2/ticket_forms', (context) =>
    ok({ ticket_forms: forms(context), count: context.store.forms.size }),
  ),
  route('GET', '/api/v2/custom_statuses', (context) => ok({ custom_statuses: customStatuses(context) })),
];

const here = ({ store }: Context, { id }: Params): Ticket => visibleTicket(store, Number(id));

function show(context: Context, ticket: Ticket): StandinResponse {
  const sideloaded = sideloads(context, [ticket]);
  return ok({ ticket: viewWithMetrics(context, ticket), ...sideloaded });
}

function showMany(context: Context): StandinResponse {
  const tickets = idsOf(context)
    .map((id) => context.store.tickets.get(id))
    .filter((ticket): ticket is Ticket => ticket !== undefined && ticket.gone === 'no');
  const list = tickets.map((ticket) => viewWithMetrics(context, ticket));
  return ok({
    tickets: list,
    ...sideloads(context, tickets),
    next_page: null,
    previous_page: null,
    count: tickets.length,
  });
}

/** Sorted by last change; the last minute is never served. Admins only, 10 a minute. (Both can be set.) */
function incremental(context: Context): StandinResponse {
  const { req, store, now, base, user } = context;
  const { exportsPerMinute, exportLagMs } = store.settings;
  if (user.role !== 'admin') throw forbidden();
  context.limit([
    {
      key: 'incremental',
      limit: exportsPerMinute,
      windowMs: 60_000,
      name: 'incremental-exports-cursor',
      what: 'incremental export requests',
    },
  ]);
  const cursor = req.query.get('cursor');
  const start = req.query.get('start_time');
  if (cursor === null && (start === null || !/^\d+$/.test(start))) throw badRequest('start_time is required');
  if (cursor === null && Number(start) * 1000 > now - 60_000) {
    throw new Problem({
      status: 400,
      body: {
        error: 'StartTimeTooRecent',
        description: 'Too recent start_time. Use a start_time older than 60 seconds',
      },
    });
  }
  const [sinceMs = 0, lastId = 0] = cursor === null ? [Number(start) * 1000, 0] : decodeCursor(cursor);
  const perPage = Math.min(1000, Math.max(1, Number(req.query.get('per_page') ?? '1000') || 1000));
  const withoutDeleted = req.query.get('exclude_deleted') === 'true';
  const due = [...store.tickets.values()]
    .filter((ticket) => ticket.generatedAt <= now - exportLagMs && (ticket.gone === 'no' || !withoutDeleted))
    .filter((ticket) => ticket.generatedAt > sinceMs || (ticket.generatedAt === sinceMs && ticket.id > lastId))
    .sort((a, b) => a.generatedAt - b.generatedAt || a.id - b.id);
  const tickets = due.slice(0, perPage);
  const last = tickets.at(-1);
  const after =
    last === undefined ? (cursor ?? encodeCursor(sinceMs, lastId)) : encodeCursor(last.generatedAt, last.id);
  const list = tickets.map((ticket) => viewWithMetrics(context, ticket));
  return ok({
    tickets: list,
    ...sideloads(context, tickets),
    after_cursor: after,
    after_url: `${base}/api/v2/incremental/tickets/cursor.json?cursor=${after}`,
    before_cursor: null,
    before_url: null,
    end_of_stream: due.length <= perPage,
  });
}

function encodeCursor(ms: number, id: number): string {
  return Buffer.from(`${ms}|${id}`).toString('base64url');
}

function decodeCursor(cursor: string): number[] {
  const parts = Buffer.from(cursor, 'base64url').toString('utf8').split('|').map(Number);
  if (parts.length !== 2 || parts.some(Number.isNaN)) throw badRequest('cursor is not valid');
  return parts;
}

/** A ticket as it is listed: with its metric set inside, where that was asked for and is what the account does. */
export function viewWithMetrics(context: Context, ticket: Ticket): object {
  const view = viewTicket(context.store, ticket, context.base);
  const inside = context.store.settings.metricSets === 'inside' && included(context).includes('metric_sets');
  return inside ? { ...view, metric_set: viewMetricSet(ticket, context.base) } : view;
}

/** Arrays beside the tickets, each record once. Unknown names are ignored. */
export function sideloads(context: Context, tickets: readonly Ticket[]): Record<string, object[]> {
  const { store, base } = context;
  const names = included(context);
  const beside = <Item>(
    name: string,
    idsIn: (ticket: Ticket) => (number | null)[],
    map: ReadonlyMap<number, Item>,
    view: (item: Item, base: string) => object,
  ): Record<string, object[]> => {
    if (!names.includes(name)) return {};
    const found = [...new Set(tickets.flatMap(idsIn))].map((id) => (id === null ? undefined : map.get(id)));
    return { [name]: found.flatMap((item) => (item === undefined ? [] : [view(item, base)])) };
  };
  return {
    ...beside('users', (one) => [one.requesterId, one.submitterId, one.assigneeId], store.users, viewUser),
    ...beside('groups', (one) => [one.groupId], store.groups, viewGroup),
    ...beside('organizations', (one) => [one.organizationId], store.organizations, viewOrganization),
    ...nameSideloads(context, names, tickets),
    ...(names.includes('metric_sets') && store.settings.metricSets === 'beside'
      ? { metric_sets: tickets.map((ticket) => viewMetricSet(ticket, base)) }
      : {}),
  };
}

function included(context: Context): string[] {
  return (context.req.query.get('include') ?? '').split(',').map((name) => name.trim());
}

/** Brands, forms and custom statuses beside tickets: those that the tickets name. */
export function nameSideloads(context: Context, names: readonly string[], tickets: readonly Ticket[]) {
  if (!context.store.settings.nameSideloads) return {};
  const of = (wanted: readonly number[]): ((one: { id: number }) => boolean) => {
    const ids = new Set(wanted);
    return ({ id }) => ids.has(id);
  };
  return {
    ...(names.includes('brands') && { brands: brands(context).filter(of(tickets.map(({ brandId }) => brandId))) }),
    ...(names.includes('ticket_forms') && {
      ticket_forms: forms(context).filter(of(tickets.map(({ formId }) => formId))),
    }),
    ...(names.includes('custom_statuses') && {
      custom_statuses: customStatuses(context).filter(of(tickets.map(({ customStatusId }) => customStatusId))),
    }),
  };
}

const brands = ({ store, base }: Context) =>
  [...store.brands].map(([id, name], index) => ({
    url: `${base}/api/v2/brands/${id}.json`,
    id,
    name,
    brand_url: base,
    subdomain: name.toLowerCase().replace(/\W+/g, '-'),
    host_mapping: null,
    has_help_center: false,
    active: true,
    default: index === 0,
  }));

const forms = ({ store, base }: Context) =>
  [...store.forms].map(([id, name], index) => ({
    url: `${base}/api/v2/ticket_forms/${id}.json`,
    id,
    name,
    raw_name: name,
    display_name: name,
    position: index,
    active: true,
    default: index === 0,
    end_user_visible: true,
    ticket_field_ids: [],
    in_all_brands: true,
  }));

const customStatuses = ({ store }: Context) =>
  [...store.customStatuses].map(([id, { category, label }]) => ({
    id,
    status_category: category,
    agent_label: label,
    raw_agent_label: label,
    end_user_label: label,
    active: true,
    default: id <= 5005,
  }));
