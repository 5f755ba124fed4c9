import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { bodyOf, type Context, invalid, noAdmin, problem } from './context.ts';
import type { Attribute, Author, Conversation, Values } from './definitions.ts';
import { contactFields, conversationFields, searchRoute, ticketFields } from './search.ts';
import { appCode, bot } from './store.ts';
import { newest, viewContact, viewConversation, viewTicket, viewTicketPart } from './views.ts';

const conversation = '/conversations/{id:\\d+}';
const ticket = '/tickets/{id:\\d+}';

export const conversationRoutes: Route<Context>[] = [
  searchRoute('/conversations/search', ({ store, settings, nowMs }) => ({
    ...{ key: 'conversations', fields: conversationFields, lists: [] },
    rows: store.indexed('conversation', nowMs - settings.indexLagMs),
  })),
  searchRoute('/contacts/search', ({ store }) => ({
    ...{ key: 'data', fields: contactFields, lists: ['id'] },
    rows: [...store.contacts.values()].map(viewContact),
  })),
  searchRoute('/tickets/search', ({ store, settings, nowMs }) => ({
    ...{ key: 'tickets', fields: ticketFields, lists: [] },
    rows: store.indexed('ticket', nowMs - settings.indexLagMs),
  })),
  route('GET', '/contacts/{id}', ({ store }, { id = '' }) => {
    const found = store.contacts.get(id);
    if (found === undefined) throw problem(404, 'not_found', 'User Not Found');
    return ok(viewContact(found));
  }),
  route('POST', '/conversations/redact', redact),
  route('GET', conversation, (context, params) => shown(context, here(context, params))),
  route('PUT', conversation, update),
  route('POST', `${conversation}/reply`, (context, params) => {
    const one = here(context, params);
    note(context, one, NoteOfConversation);
    return shown(context, one);
  }),
  route('POST', `${conversation}/parts`, move),
  route('GET', '/tags', ({ store }) => ok({ type: 'list', data: [...store.tags].map(([name, id]) => tag(id, name)) })),
  route('POST', '/tags', tagNamed),
  route('POST', `${conversation}/tags`, (context, params) => attachTag(context, here(context, params))),
  route('GET', ticket, (context, params) => ok(viewTicket(context.store, ticketHere(context, params)) ?? {})),
  route('PUT', ticket, updateTicket),
  route('POST', `${ticket}/tags`, (context, params) => attachTag(context, ticketHere(context, params))),
  route('POST', `${ticket}/reply`, (context, params) =>
    ok(viewTicketPart(note(context, ticketHere(context, params), NoteOfTicket))),
  ),
];

const tag = (id: string, name: string) => ({ type: 'tag', id, name });

function here({ store }: Context, { id = '' }: Params): Conversation {
  const one = store.conversations.get(id);
  if (one === undefined) throw problem(404, 'not_found', 'Resource Not Found');
  return one;
}

function shown({ store, req }: Context, one: Conversation): StandinResponse {
  const isPlain = req.query.get('display_as') === 'plaintext';
  const parts = newest(one.parts).map((part) =>
    isPlain && part.body !== null ? { ...part, body: plain(part.body) } : part,
  );
  return ok(viewConversation(store, one, parts));
}

const plain = (html: string): string =>
  html
    .replace(/<\/p>/g, '\n')
    .replace(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();

const Update = z.strictObject({
  read: z.boolean().optional(),
  title: z.string().optional(),
  custom_attributes: z.record(z.string(), z.unknown()).optional(),
  company_id: z.string().nullable().optional(),
});

function update(context: Context, params: Params): StandinResponse {
  const one = here(context, params);
  const given = bodyOf(context, Update, 'body');
  setValues(one.values, given.custom_attributes ?? {}, context.store.attributes, 'Conversation');
  context.store.addPart(one, context.nowMs, {
    type: 'conversation_attribute_updated_by_admin',
    author: bot,
    app: appCode,
  });
  return shown(context, one);
}

/** By name. @throws Problem for a name that nothing has, or two have, or a value of another type */
function setValues(held: Values, given: Values, attributes: readonly Attribute[], what: string): void {
  const changes = Object.entries(given).map(([name, value]) => {
    const live = attributes.filter((one) => one.name === name && !one.archived);
    const [attribute] = live;
    if (attribute === undefined) throw invalid(`${what} attribute '${name}' does not exist`);
    if (live.length > 1) throw invalid('More than one attribute has this name');
    if (value !== null && !fits(value, attribute.dataType))
      throw problem(422, 'type_mismatch', 'Wrong type of a value');
    return { name, value, attribute };
  });
  for (const { name, value, attribute } of changes) {
    if (attribute.deaf) continue;
    if (value === null) delete held[name];
    else held[name] = typeof value === 'string' ? value.slice(0, 1_024) : value;
  }
}

function fits(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'decimal':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'datetime':
      return Number.isInteger(value) || (typeof value === 'string' && !Number.isNaN(Date.parse(value)));
    default:
      return typeof value === 'string';
  }
}

const Note = {
  message_type: z.literal('note'),
  type: z.literal('admin'),
  admin_id: z.string(),
  body: z.string().min(1),
};
const NoteOfConversation = z.strictObject({ ...Note, skip_notifications: z.boolean().optional() });
const NoteOfTicket = z.strictObject(Note);

function adminOf({ store }: Context, id: string | number): Author {
  const admin = store.admins.get(String(id));
  if (admin === undefined) throw noAdmin();
  return admin;
}

function note(context: Context, one: Conversation, schema: typeof NoteOfConversation | typeof NoteOfTicket) {
  const { admin_id, body } = bodyOf(context, schema, 'note');
  const part = context.store.addPart(one, context.nowMs, {
    type: 'note',
    body,
    author: adminOf(context, admin_id),
    app: appCode,
  });
  context.notify('conversation.admin.noted', one, part);
  return part;
}

/** A body would be a reply to the customer. */
const Move = z.union([
  z.strictObject({
    message_type: z.enum(['close', 'open']),
    type: z.literal('admin').optional(),
    admin_id: z.string(),
    body: z.string().optional(),
  }),
  z.strictObject({
    message_type: z.literal('assignment'),
    type: z.enum(['admin', 'team']),
    admin_id: z.string(),
    assignee_id: z.string(),
    body: z.string().optional(),
  }),
]);

function move(context: Context, params: Params): StandinResponse {
  const one = here(context, params);
  const given = bodyOf(context, Move, 'part');
  const { store, nowMs } = context;
  const admin = adminOf(context, given.admin_id);
  const body = given.body ?? null;
  if (body !== null) store.addPart(one, nowMs, { type: 'comment', body, author: admin, app: appCode });
  if (given.message_type === 'assignment') {
    const { type, assignee_id } = given;
    const isThere = type === 'admin' ? store.admins.has(assignee_id) : store.teams.has(Number(assignee_id));
    if (!isThere) throw problem(404, 'assignee_not_found', 'Assignee for assignee_id not found');
    one[type] = Number(assignee_id);
    const part = store.addPart(one, nowMs, { type: 'assignment', author: admin, app: appCode });
    context.notify('conversation.admin.assigned', one, part);
  } else if (given.message_type === 'close')
    context.notify('conversation.admin.closed', one, store.close(one, admin, nowMs, appCode));
  else context.notify('conversation.admin.opened', one, store.open(one, admin, nowMs, appCode));
  return shown(context, one);
}

const NewTag = z.strictObject({ name: z.string().min(1).max(255) });

/** Finds it, or makes it. */
function tagNamed(context: Context): StandinResponse {
  const { store } = context;
  const { name } = bodyOf(context, NewTag, 'tag');
  const id = store.tags.get(name) ?? String(7_500_000 + store.nextId());
  store.tags.set(name, id);
  return ok(tag(id, name));
}

const Tagging = z.strictObject({ id: z.string(), admin_id: z.string() });

/** Adds a tag, as often as it is asked for; there it is once. */
function attachTag(context: Context, one: Conversation): StandinResponse {
  const given = bodyOf(context, Tagging, 'tag');
  adminOf(context, given.admin_id);
  const [name] = [...context.store.tags].find(([, id]) => id === given.id) ?? [];
  if (name === undefined) throw problem(404, 'tag_not_found', 'Tag not found');
  if (!one.tags.includes(name)) one.tags.push(name);
  context.store.touch(one, context.nowMs);
  return ok(tag(given.id, name));
}

const Redaction = z.strictObject({
  type: z.literal('conversation_part'),
  conversation_id: z.string(),
  conversation_part_id: z.string(),
});

function redact(context: Context): StandinResponse {
  const given = bodyOf(context, Redaction, 'redaction');
  const one = here(context, { id: given.conversation_id });
  const part = one.parts.find(({ id }) => id === given.conversation_part_id);
  if (part === undefined) throw problem(404, 'conversation_part_or_message_not_found', 'Conversation part not found');
  Object.assign(part, { body: null, redacted: true });
  context.store.touch(one, context.nowMs);
  return shown(context, one);
}

function ticketHere(context: Context, params: Params): Conversation & { ticket: NonNullable<Conversation['ticket']> } {
  const one = here(context, params);
  if (one.ticket === null) throw problem(404, 'ticket_not_found', 'Ticket not found');
  return Object.assign(one, { ticket: one.ticket });
}

const TicketUpdate = z.strictObject({
  ticket_attributes: z.record(z.string(), z.unknown()).optional(),
  ticket_state_id: z.string().optional(),
  company_id: z.string().nullable().optional(),
  open: z.boolean().optional(),
  is_shared: z.boolean().optional(),
  admin_id: z.int().optional(),
  assignee_id: z.string().optional(),
  skip_notifications: z.boolean().optional(),
});

/** Whatever is put on a closed ticket opens it again, more or less: `ticketWrites`. */
function updateTicket(context: Context, params: Params): StandinResponse {
  const { store, nowMs, settings } = context;
  const one = ticketHere(context, params);
  const { ticket_attributes: given, ticket_state_id, open, admin_id } = bodyOf(context, TicketUpdate, 'body');
  // As this software should never do: a state tells the customer.
  if (ticket_state_id !== undefined) throw invalid('Cannot transition ticket to the same state');
  const author = admin_id === undefined ? bot : adminOf(context, admin_id);
  if (given !== undefined) {
    const type = store.types.find(({ id }) => id === one.ticket.typeId);
    setValues(one.ticket.values, given, type?.attributes ?? [], 'Ticket');
    store.addPart(one, nowMs, { type: 'ticket_attribute_updated_by_admin', author, app: appCode });
    if (settings.ticketWrites !== 'honoured' || open !== false)
      context.notify('conversation.admin.opened', one, store.open(one, author, nowMs, appCode));
  }
  if (open === true) context.notify('conversation.admin.opened', one, store.open(one, author, nowMs, appCode));
  if (open === false && given === undefined && settings.ticketWrites !== 'stubborn')
    context.notify('conversation.admin.closed', one, store.close(one, author, nowMs, appCode));
  if (open === false && given !== undefined && settings.ticketWrites === 'honoured')
    context.notify('conversation.admin.closed', one, store.close(one, author, nowMs, appCode));
  return ok(viewTicket(store, one) ?? {});
}
