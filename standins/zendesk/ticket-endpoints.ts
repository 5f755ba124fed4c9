import { z } from 'zod';
import type { Route } from '../router.ts';
import type { StandinResponse } from '../server.ts';
import type { Context } from './context.ts';
import { viewJob } from './jobs.ts';
import type { Ticket } from './model.ts';
import { nameSideloads } from './name-endpoints.ts';
import { idsOf, paged } from './paging.ts';
import { badRequest, forbidden, Problem } from './problem.ts';
import { checkStamp, objectOf, readTicketBody, visibleTicket } from './ticket-body.ts';
import { changeTicket, type Patch } from './ticket-change.ts';
import { viewAudit, viewGroup, viewMetricSet, viewOrganization, viewTicket, viewUser } from './views.ts';

const one = '/api/v2/tickets/{id:\\d+}';
const tagsBody = z.object({
  tags: z.array(z.string()),
  safe_update: z.unknown().optional(),
  updated_stamp: z.string().optional(),
});
const failure = z.object({
  error: z.string(),
  description: z.string(),
  details: z.record(z.string(), z.array(z.object({ description: z.string() }))).optional(),
});

export const ticketRoutes: Route<Context>[] = [
  { method: 'GET', template: '/api/v2/tickets/show_many', answer: showMany },
  { method: 'PUT', template: '/api/v2/tickets/update_many', answer: updateMany },
  {
    method: 'GET',
    template: one,
    answer: (context, { id }) => show(context, visibleTicket(context.store, Number(id))),
  },
  { method: 'PUT', template: one, answer: (context, { id }) => update(context, Number(id)) },
  {
    method: 'GET',
    template: `${one}/audits`,
    answer: (context, { id }) => ({
      status: 200,
      body: paged(context, 'audits', visibleTicket(context.store, Number(id)).audits.map(viewAudit)),
    }),
  },
  {
    method: 'GET',
    template: `${one}/comments`,
    answer: (context, { id }) => comments(context, visibleTicket(context.store, Number(id))),
  },
  {
    method: 'GET',
    template: `${one}/metrics`,
    answer: (context, { id }) => ({
      status: 200,
      body: { ticket_metric: viewMetricSet(visibleTicket(context.store, Number(id)), context.base) },
    }),
  },
  {
    method: 'GET',
    template: `${one}/tags`,
    answer: (context, { id }) => ({ status: 200, body: { tags: visibleTicket(context.store, Number(id)).tags } }),
  },
  {
    method: 'PUT',
    template: `${one}/tags`,
    answer: (context, { id }) => changeTags(context, Number(id), (tags) => ({ addTags: tags })),
  },
  {
    method: 'POST',
    template: `${one}/tags`,
    answer: (context, { id }) => changeTags(context, Number(id), (tags) => ({ tags })),
  },
  {
    method: 'DELETE',
    template: `${one}/tags`,
    answer: (context, { id }) => changeTags(context, Number(id), (tags) => ({ removeTags: tags })),
  },
  { method: 'GET', template: '/api/v2/incremental/tickets/cursor', answer: incremental },
];

function show(context: Context, ticket: Ticket): StandinResponse {
  const sideloaded = sideloads(context, [ticket]);
  return { status: 200, body: { ticket: withMetrics(context, ticket), ...sideloaded } };
}

function showMany(context: Context): StandinResponse {
  const tickets = idsOf(context)
    .map((id) => context.store.tickets.get(id))
    .filter((ticket): ticket is Ticket => ticket !== undefined && ticket.gone === 'no');
  const list = tickets.map((ticket) => withMetrics(context, ticket));
  return {
    status: 200,
    body: {
      tickets: list,
      ...sideloads(context, tickets),
      next_page: null,
      previous_page: null,
      count: tickets.length,
    },
  };
}

function included(context: Context): string[] {
  return (context.req.query.get('include') ?? '').split(',').map((name) => name.trim());
}

function withMetrics(context: Context, ticket: Ticket): object {
  const view = viewTicket(context.store, ticket, context.base);
  const inside = context.store.settings.metricSets === 'inside' && included(context).includes('metric_sets');
  return inside ? { ...view, metric_set: viewMetricSet(ticket, context.base) } : view;
}

/** Arrays beside the tickets, each record once. Unknown names are ignored. */
function sideloads(context: Context, tickets: readonly Ticket[]): Record<string, object[]> {
  const { store, base } = context;
  const names = included(context);
  const pick = <Item>(
    ids: (number | null)[],
    map: ReadonlyMap<number, Item>,
    view: (item: Item, base: string) => object,
  ): object[] =>
    [...new Set(ids)].flatMap((id) => {
      const item = id === null ? undefined : map.get(id);
      return item === undefined ? [] : [view(item, base)];
    });
  return {
    ...(names.includes('users')
      ? {
          users: pick(
            tickets.flatMap((ticket) => [ticket.requesterId, ticket.submitterId, ticket.assigneeId]),
            store.users,
            viewUser,
          ),
        }
      : {}),
    ...(names.includes('groups')
      ? {
          groups: pick(
            tickets.map((ticket) => ticket.groupId),
            store.groups,
            viewGroup,
          ),
        }
      : {}),
    ...(names.includes('organizations')
      ? {
          organizations: pick(
            tickets.map((ticket) => ticket.organizationId),
            store.organizations,
            viewOrganization,
          ),
        }
      : {}),
    ...nameSideloads(context, names, tickets),
    ...(names.includes('metric_sets') && store.settings.metricSets === 'beside'
      ? { metric_sets: tickets.map((ticket) => viewMetricSet(ticket, base)) }
      : {}),
  };
}

/** 30 in 10 minutes per user and ticket, and the account's own budget of ticket updates per minute. */
function takeUpdate(context: Context, id: number): void {
  const { store, user } = context;
  context.limit([
    {
      key: 'ticket-updates',
      limit: store.settings.ticketUpdatesPerMinute,
      windowMs: 60_000,
      name: 'tickets-update',
      what: 'ticket updates',
    },
    {
      key: `ticket-update:${user.id}:${id}`,
      limit: 30,
      windowMs: 600_000,
      name: 'tickets-update-per-ticket',
      what: 'updates of one ticket',
    },
  ]);
}

function apply(context: Context, ticket: Ticket, patch: Patch): object {
  const { audit, happened } = changeTicket(
    context.store,
    ticket,
    patch,
    { userId: context.user.id, channel: 'api' },
    context.clock(),
  );
  context.announce(ticket, context.user.id, happened);
  return viewAudit(audit);
}

function update(context: Context, id: number): StandinResponse {
  takeUpdate(context, id);
  const ticket = visibleTicket(context.store, id);
  const body = objectOf(context.req);
  const { patch, warn, stamp } = readTicketBody(body.ticket, 'single');
  checkStamp(ticket, stamp);
  const audit = apply(context, ticket, patch);
  return {
    status: 200,
    headers: warning([...Object.keys(body).filter((key) => key !== 'ticket'), ...warn]),
    body: { ticket: viewTicket(context.store, ticket, context.base), audit },
  };
}

function changeTags(context: Context, id: number, patch: (tags: string[]) => Patch): StandinResponse {
  takeUpdate(context, id);
  const ticket = visibleTicket(context.store, id);
  const body = objectOf(context.req);
  const parsed = tagsBody.safeParse(body);
  if (!parsed.success) throw badRequest('tags must be an array of strings');
  if (Object.hasOwn(body, 'safe_update')) checkStamp(ticket, parsed.data.updated_stamp ?? '');
  apply(context, ticket, patch(parsed.data.tags));
  return { status: context.req.method === 'POST' ? 201 : 200, body: { tags: ticket.tags } };
}

/** `?ids=` with one `ticket`, or `tickets` with an id each; what is wrong with a ticket shows in its result only. */
function updateMany(context: Context): StandinResponse {
  const body = objectOf(context.req);
  const orders = context.req.query.has('ids')
    ? idsOf(context).map((id) => ({ id, ticket: body.ticket }))
    : perTicket(body.tickets);
  // Read once now, so that a malformed body is refused at once, and again per ticket in the job.
  const warn = orders.flatMap(({ ticket }) => readWarnings(ticket));
  const work = orders.map(
    ({ id, ticket }, index) =>
      () =>
        resultOf(context, id, ticket, index),
  );
  const { job, headers } = context.jobs.start(work, context.store.settings, context.sleep);
  return { status: 200, headers: { ...headers, ...warning(warn) }, body: { job_status: viewJob(job, context.base) } };
}

function perTicket(given: unknown): { id: number; ticket: unknown }[] {
  const parsed = z
    .array(z.looseObject({ id: z.union([z.number().int(), z.string().regex(/^\d+$/).transform(Number)]) }))
    .safeParse(given);
  if (!parsed.success || parsed.data.length === 0)
    throw badRequest('tickets must be an array of objects that have an id');
  if (parsed.data.length > 100) throw badRequest('tickets: at most 100 are allowed');
  return parsed.data.map((ticket) => ({ id: ticket.id, ticket }));
}

function readWarnings(ticket: unknown): string[] {
  try {
    return readTicketBody(ticket, 'bulk').warn;
  } catch (error) {
    if (error instanceof Problem && error.response.status !== 400) return [];
    throw error;
  }
}

function resultOf(context: Context, id: number, given: unknown, index: number): object {
  try {
    const ticket = visibleTicket(context.store, id);
    const { patch, stamp } = readTicketBody(given, 'bulk');
    checkStamp(ticket, stamp);
    apply(context, ticket, patch);
    return { index, id, action: 'update', status: 'Updated', success: true };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const {
      error: name,
      description,
      details,
    } = failure.catch({ error: 'BadRequest', description: 'Bad request' }).parse(error.response.body);
    const lines = Object.values(details ?? {})
      .flat()
      .map((line) => line.description);
    return {
      index,
      id,
      action: 'update',
      status: 'Failed',
      success: false,
      error: name,
      details: lines.length === 0 ? description : lines.join(' '),
    };
  }
}

function comments(context: Context, ticket: Ticket): StandinResponse {
  const list = ticket.audits.flatMap((audit) =>
    audit.events
      .filter((event) => event.type === 'Comment')
      .map((event) => ({ ...event, audit_id: audit.id, created_at: new Date(audit.createdAt).toISOString() })),
  );
  return { status: 200, body: paged(context, 'comments', list) };
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
  const list = tickets.map((ticket) => withMetrics(context, ticket));
  return {
    status: 200,
    body: {
      tickets: list,
      ...sideloads(context, tickets),
      after_cursor: after,
      after_url: `${base}/api/v2/incremental/tickets/cursor.json?cursor=${after}`,
      before_cursor: null,
      before_url: null,
      end_of_stream: due.length <= perPage,
    },
  };
}

function encodeCursor(ms: number, id: number): string {
  return Buffer.from(`${ms}|${id}`).toString('base64url');
}

function decodeCursor(cursor: string): number[] {
  const parts = Buffer.from(cursor, 'base64url').toString('utf8').split('|').map(Number);
  if (parts.length !== 2 || parts.some(Number.isNaN)) throw badRequest('cursor is not valid');
  return parts;
}

function warning(keys: readonly string[]): Record<string, string> {
  const unique = [...new Set(keys)];
  return unique.length === 0
    ? {}
    : {
        'x-zendesk-api-warn': `Removed restricted keys ${JSON.stringify(unique)} from parameters according to whitelist`,
      };
}
