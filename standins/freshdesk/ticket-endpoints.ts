import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { type Context, denied, invalid, listed, notAllowed, notFound, sees, valid, validBody } from './context.ts';
import type { Field, Ticket } from './definitions.ts';
import { viewNote, viewRequester, viewStats, viewTicket } from './views.ts';

const base = '/api/v2/tickets';
const one = `${base}/{id:\\d+}`;
export const ticketRoutes: Route<Context>[] = [
  route('GET', base, list),
  route('GET', one, (context, params) => {
    const { include = [] } = valid(z.strictObject({ include: includes.exactOptional() }), context.query);
    const ticket = seen(context, params);
    if (ticket.is === 'archived') throw notFound();
    context.spend(include.length + (include.includes('conversations') ? 1 : 0));
    return ok(viewed(context, ticket, include));
  }),
  route('GET', `${base}/archived/{id:\\d+}`, (context, params) => {
    const ticket = seen(context, params);
    if (ticket.is !== 'archived') throw notFound();
    return ok(viewed(context, ticket, []));
  }),
  route('PUT', one, update),
  route('GET', `${one}/conversations`, (context, params) =>
    listed(context, seen(context, params).conversations.map(viewNote)),
  ),
  route('POST', `${one}/notes`, (context, params) => {
    const ticket = writable(context, params);
    const { body, private: isPrivate } = validBody(context.req, NoteBody);
    const note = context.account.addNote(ticket, body, context.agent.id, isPrivate);
    return { status: 201, body: { ...viewNote(note), ticket_id: ticket.id } };
  }),
  route('DELETE', '/api/v2/conversations/{id:\\d+}', ({ account }, { id }) => {
    for (const ticket of account.tickets.values()) {
      const rest = ticket.conversations.filter((note) => note.id !== Number(id));
      if (rest.length === ticket.conversations.length) continue;
      ticket.conversations = rest;
      return { status: 204 };
    }
    throw notFound();
  }),
];

const NoteBody = z.strictObject({
  body: z.string().min(1),
  private: z.boolean().default(true),
  incoming: z.boolean().exactOptional(),
  notify_emails: z.array(z.string()).exactOptional(),
  user_id: z.int().exactOptional(),
});

const includes = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(['requester', 'stats', 'company', 'conversations', 'description'])));
const ListQuery = z.strictObject({
  updated_since: z.iso.datetime({ offset: true }).exactOptional(),
  filter: z.enum(['deleted', 'spam']).exactOptional(),
  order_by: z.enum(['created_at', 'due_by', 'updated_at', 'status']).default('created_at'),
  order_type: z.enum(['asc', 'desc']).default('desc'),
  include: includes.exactOptional(),
  page: z.string().exactOptional(),
  per_page: z.string().exactOptional(),
});
const thirtyDaysMs = 30 * 86_400_000;

/** Rows move while one pages: each page is of the tickets as they are now. */
function list(context: Context): StandinResponse {
  const { account, query, now } = context;
  const { updated_since, filter, order_by, order_type, include = [] } = valid(ListQuery, query);
  if (Number(query.page) > 300)
    throw invalid({
      ...{ field: 'page', code: 'invalid_value' },
      message: 'You cannot access tickets beyond the 300th page. Please provide a smaller page number.',
    });
  context.spend(include.length * 2);
  const since = updated_since === undefined ? undefined : Date.parse(updated_since);
  const seconds = (ms: number) => Math.floor(ms / 1_000) * 1_000;
  const by = ({ createdAt, updatedAt, status }: Ticket) =>
    order_by === 'status' ? status : seconds(order_by === 'updated_at' ? updatedAt : createdAt);
  const sign = order_type === 'asc' ? 1 : -1;
  const tickets = [...account.tickets.values()]
    .filter((ticket) => ticket.is === (filter ?? 'live') && sees(context, ticket))
    .filter(({ updatedAt, createdAt }) =>
      since === undefined ? createdAt > now - thirtyDaysMs : seconds(updatedAt) >= since,
    )
    .toSorted((a, b) => sign * (by(a) - by(b)) || a.id - b.id);
  return listed(context, tickets, (ticket) => viewed(context, ticket, include));
}

function viewed({ account }: Context, ticket: Ticket, include: readonly string[]): Record<string, unknown> {
  const requester = account.contacts.get(ticket.requesterId) ?? account.agents.get(ticket.requesterId);
  return {
    ...viewTicket(ticket, account.fields.values()),
    ...(include.includes('requester') && requester && { requester: viewRequester(requester) }),
    ...(include.includes('stats') && { stats: viewStats(ticket) }),
  };
}

function seen(context: Context, { id }: Params): Ticket {
  const ticket = context.account.tickets.get(Number(id));
  if (ticket === undefined) throw notFound();
  if (!sees(context, ticket)) throw denied();
  return ticket;
}

function writable(context: Context, params: Params): Ticket {
  const ticket = seen(context, params);
  if (ticket.is === 'archived') throw notFound();
  if (ticket.is !== 'live') throw notAllowed(context.req.method);
  return ticket;
}

const TicketBody = z.strictObject({
  ...{ subject: z.string().exactOptional(), type: z.string().nullable().exactOptional() },
  status: z.int().exactOptional(),
  priority: z.int().min(1).max(4).exactOptional(),
  ...{ group_id: z.int().nullable().exactOptional(), responder_id: z.int().nullable().exactOptional() },
  tags: z.array(z.string().max(32)).exactOptional(),
  custom_fields: z.record(z.string(), z.unknown()).default({}),
});

/** One wrong value, be it somebody else's empty field, and nothing is written. */
async function update(context: Context, params: Params): Promise<StandinResponse> {
  const { account, req, now } = context;
  const ticket = writable(context, params);
  const body = validBody(req, TicketBody);
  const { status, priority, group_id, responder_id, tags, custom_fields, ...plain } = body;
  const wrong = (field: string, message: string, code = 'invalid_value') => ({ field, message, code });
  const errors = Object.entries(custom_fields).flatMap(([name, value]) => {
    const field = account.fields.get(name);
    if (field === undefined || !name.startsWith('cf_'))
      return [wrong(name, 'Unexpected/invalid field in request', 'invalid_field')];
    const at = `custom_fields.${name}`;
    if (field.isReadOnly) return [wrong(at, 'Read only', 'readonly_field')];
    return value === null ? [] : flawsOf(field, value).map(([message, code]) => wrong(at, message, code));
  });
  if (status !== undefined && account.settings.statuses[status] === undefined)
    errors.push(wrong('status', `It should be one of these values: '${Object.keys(account.settings.statuses)}'`));
  if (group_id && !account.groups.has(group_id))
    errors.push(wrong('group_id', 'There is no group matching the given group_id'));
  if (responder_id && !account.agents.has(responder_id))
    errors.push(wrong('responder_id', 'There is no agent matching the given responder_id'));
  const after: Record<string, unknown> = { ...ticket.values, ...ticket, ...plain, ...custom_fields };
  const isClosed = [4, 5].includes(status ?? ticket.status);
  for (const { name, isRequired, isRequiredForClosure } of account.fields.values())
    if ((isRequired || (isRequiredForClosure && isClosed)) && (after[name] ?? '') === '')
      errors.push(wrong(name.startsWith('cf_') ? `custom_fields.${name}` : name, 'It should be one of these values'));
  if (errors.length > 0) throw invalid(...errors);
  Object.assign(ticket, plain, tags && { tags: [...new Set(tags)] });
  if (group_id !== undefined) ticket.groupId = group_id;
  if (responder_id !== undefined) ticket.responderId = responder_id;
  for (const [name, value] of Object.entries(custom_fields)) ticket.values[name] = value;
  ticket.updatedAt = now;
  void account.move(ticket, { priority, status }, 'agent');
  return ok(viewed(context, ticket, []));
}

const flaw = (isFlawed: boolean, message: string, code?: string): [string, string | undefined][] =>
  isFlawed ? [[message, code]] : [];

function flawsOf({ type, choices }: Field, value: unknown): [message: string, code: string | undefined][] {
  const isNot = (kind: string, isIt: boolean) => flaw(!isIt, `It should be a/an ${kind}`, 'datatype_mismatch');
  switch (type) {
    case 'custom_number':
      return isNot('Integer', Number.isSafeInteger(value));
    case 'custom_decimal':
      return isNot('Number', typeof value === 'number');
    case 'custom_checkbox':
      return isNot('Boolean', typeof value === 'boolean');
    case 'custom_date':
      return flaw(!/^\d{4}-\d\d-\d\d$/.test(String(value)), 'It should be in the yyyy-mm-dd format');
    case 'custom_dropdown':
      return flaw(!choices.includes(value as string), `It should be one of these values: '${choices}'`);
    case 'custom_text':
      if (typeof value === 'string') return flaw(value.length > 255, 'Has too many characters (maximum 255)');
  }
  return isNot('String', typeof value === 'string');
}
