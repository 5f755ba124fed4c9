import { z } from 'zod';
import { jsonBody, type StandinResponse } from '../kit/message.ts';
import type { Params, Route } from '../kit/router.ts';
import { type Context, invalid, noAdmin, problem } from './context.ts';
import type { Attribute, Author, Conversation, Values } from './definitions.ts';
import { contactFields, conversationFields, searchRoute, ticketFields } from './search.ts';
import { appCode, bot } from './store.ts';
import { newest, viewContact, viewConversation, viewTicket, viewTicketPart } from './views.ts';

export const conversationRoutes: Route<Context>[] = [
  searchRoute('/conversations/search', ({ store, settings, nowMs }) => ({
    key: 'conversations',
    fields: conversationFields,
    lists: [],
    rows: store.indexed('conversation', nowMs - settings.indexLagMs),
  })),
  searchRoute('/contacts/search', ({ store }) => ({
    key: 'data',
    fields: contactFields,
    lists: ['id'],
    rows: store.indexedContacts(),
  })),
  { method: 'GET', template: '/contacts/{id}', answer: contact },
  { method: 'POST', template: '/conversations/redact', answer: redact },
  {
    method: 'GET',
    template: '/conversations/{id:\\d+}',
    answer: (context, params) => shown(context, here(context, params)),
  },
  { method: 'PUT', template: '/conversations/{id:\\d+}', answer: update },
  {
    method: 'POST',
    template: '/conversations/{id:\\d+}/reply',
    answer: (context, params) => {
      const one = here(context, params);
      note(context, one, NoteOfConversation);
      return shown(context, one);
    },
  },
  { method: 'POST', template: '/conversations/{id:\\d+}/parts', answer: move },
  { method: 'GET', template: '/tags', answer: listTags },
  { method: 'POST', template: '/tags', answer: tagNamed },
  {
    method: 'POST',
    template: '/conversations/{id:\\d+}/tags',
    answer: (context, params) => attachTag(context, here(context, params)),
  },
];

export function here({ store }: Context, { id = '' }: Params): Conversation {
  const one = store.conversations.get(id);
  if (one === undefined) throw problem(404, 'not_found', 'Resource Not Found');
  return one;
}

function shown({ store, req }: Context, one: Conversation): StandinResponse {
  const isPlain = req.query.get('display_as') === 'plaintext';
  const parts = newest(one.parts).map((part) =>
    isPlain && part.body !== null ? { ...part, body: plain(part.body) } : part,
  );
  return { status: 200, body: viewConversation(store, one, parts) };
}

const plain = (html: string): string =>
  html
    .replace(/<\/p>/g, '\n')
    .replace(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();

function contact({ store }: Context, { id = '' }: Params): StandinResponse {
  const found = store.contacts.get(id);
  if (found === undefined) throw problem(404, 'not_found', 'User Not Found');
  if (found.mergedInto === null) return { status: 200, body: viewContact(found) };
  const link = `</contacts/${found.mergedInto}>; rel="canonical"`;
  throw problem(410, 'contact_merged', 'This contact has been merged.', { link });
}

const Update = z.strictObject({
  read: z.boolean().optional(),
  title: z.string().optional(),
  custom_attributes: z.record(z.string(), z.unknown()).optional(),
  company_id: z.string().nullable().optional(),
});

function update(context: Context, params: Params): StandinResponse {
  const one = here(context, params);
  const parsed = Update.safeParse(jsonBody(context.req));
  if (!parsed.success) throw invalid('The body is malformed');
  setValues(one.values, parsed.data.custom_attributes ?? {}, context.store.attributes, 'Conversation');
  context.store.addPart(one, context.nowMs, {
    type: 'conversation_attribute_updated_by_admin',
    author: bot,
    app: appCode,
  });
  return shown(context, one);
}

/** By name. @throws Problem for a name that nothing has, or two have, or a value of another type */
export function setValues(held: Values, given: Values, attributes: readonly Attribute[], what: string): void {
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
export const NoteOfTicket = z.strictObject(Note);

export function adminOf({ store }: Context, id: string | number): Author {
  const admin = store.admins.get(String(id));
  if (admin === undefined) throw noAdmin();
  return admin;
}

export function note(context: Context, one: Conversation, schema: typeof NoteOfConversation | typeof NoteOfTicket) {
  const parsed = schema.safeParse(jsonBody(context.req));
  if (!parsed.success) throw invalid('The note is malformed');
  const { admin_id, body } = parsed.data;
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
  const parsed = Move.safeParse(jsonBody(context.req));
  if (!parsed.success) throw invalid('The part is malformed');
  const { store, nowMs } = context;
  const admin = adminOf(context, parsed.data.admin_id);
  const body = parsed.data.body ?? null;
  if (body !== null) store.addPart(one, nowMs, { type: 'comment', body, author: admin, app: appCode });
  if (parsed.data.message_type === 'assignment') {
    const { type, assignee_id } = parsed.data;
    const isThere = type === 'admin' ? store.admins.has(assignee_id) : store.teams.has(Number(assignee_id));
    if (!isThere) throw problem(404, 'assignee_not_found', 'Assignee for assignee_id not found');
    one[type] = Number(assignee_id);
    const part = store.addPart(one, nowMs, { type: 'assignment', author: admin, app: appCode });
    context.notify('conversation.admin.assigned', one, part);
  } else if (parsed.data.message_type === 'close')
    context.notify('conversation.admin.closed', one, store.close(one, admin, nowMs, appCode));
  else context.notify('conversation.admin.opened', one, store.open(one, admin, nowMs, appCode));
  return shown(context, one);
}

const NewTag = z.strictObject({ name: z.string().min(1).max(255) });

/** Finds it, or makes it. */
function tagNamed({ store, req }: Context): StandinResponse {
  const parsed = NewTag.safeParse(jsonBody(req));
  if (!parsed.success) throw invalid('The tag is malformed');
  const { name } = parsed.data;
  const id = store.tags.get(name) ?? String(7_500_000 + store.nextId());
  store.tags.set(name, id);
  return { status: 200, body: { type: 'tag', id, name } };
}

function listTags({ store }: Context): StandinResponse {
  return {
    status: 200,
    body: { type: 'list', data: [...store.tags].map(([name, id]) => ({ type: 'tag', id, name })) },
  };
}

const Tagging = z.strictObject({ id: z.string(), admin_id: z.string() });

/** Adds a tag, as often as it is asked for; there it is once. */
export function attachTag(context: Context, one: Conversation): StandinResponse {
  const parsed = Tagging.safeParse(jsonBody(context.req));
  if (!parsed.success) throw invalid('The tag is malformed');
  adminOf(context, parsed.data.admin_id);
  const [name] = [...context.store.tags].find(([, id]) => id === parsed.data.id) ?? [];
  if (name === undefined) throw problem(404, 'tag_not_found', 'Tag not found');
  if (!one.tags.includes(name)) one.tags.push(name);
  context.store.touch(one, context.nowMs);
  return { status: 200, body: { type: 'tag', id: parsed.data.id, name } };
}

const Redaction = z.strictObject({
  type: z.literal('conversation_part'),
  conversation_id: z.string(),
  conversation_part_id: z.string(),
});

function redact(context: Context): StandinResponse {
  const parsed = Redaction.safeParse(jsonBody(context.req));
  if (!parsed.success) throw invalid('The redaction is malformed');
  const one = here(context, { id: parsed.data.conversation_id });
  const part = one.parts.find(({ id }) => id === parsed.data.conversation_part_id);
  if (part === undefined) throw problem(404, 'conversation_part_or_message_not_found', 'Conversation part not found');
  Object.assign(part, { body: null, redacted: true });
  context.store.touch(one, context.nowMs);
  return shown(context, one);
}

export const ticketRoutes: Route<Context>[] = [
  searchRoute('/tickets/search', ({ store, settings, nowMs }) => ({
    key: 'tickets',
    fields: ticketFields,
    lists: [],
    rows: store.indexed('ticket', nowMs - settings.indexLagMs),
  })),
  {
    method: 'GET',
    template: '/tickets/{id:\\d+}',
    answer: (context, params) => ({ status: 200, body: viewTicket(context.store, ticket(context, params)) ?? {} }),
  },
  { method: 'PUT', template: '/tickets/{id:\\d+}', answer: update },
  {
    method: 'POST',
    template: '/tickets/{id:\\d+}/tags',
    answer: (context, params) => attachTag(context, ticket(context, params)),
  },
  {
    method: 'POST',
    template: '/tickets/{id:\\d+}/reply',
    answer: (context, params) => ({
      status: 200,
      body: viewTicketPart(note(context, ticket(context, params), NoteOfTicket)),
    }),
  },
];

function ticket(context: Context, params: Params): Conversation & { ticket: NonNullable<Conversation['ticket']> } {
  const one = here(context, params);
  if (one.ticket === null) throw problem(404, 'ticket_not_found', 'Ticket not found');
  return Object.assign(one, { ticket: one.ticket });
}

const Update = z.strictObject({
  ticket_attributes: z.record(z.string(), z.unknown()).optional(),
  ticket_state_id: z.string().optional(),
  company_id: z.string().nullable().optional(),
  open: z.boolean().optional(),
  is_shared: z.boolean().optional(),
  admin_id: z.int().optional(),
  assignee_id: z.string().optional(),
  skip_notifications: z.boolean().optional(),
});

/** Whatever is put on a closed ticket opens it again, more or less: settings.ts. */
function update(context: Context, params: Params): StandinResponse {
  const { store, nowMs, settings } = context;
  const one = ticket(context, params);
  const parsed = Update.safeParse(jsonBody(context.req));
  if (!parsed.success) throw invalid('The body is malformed');
  const { ticket_attributes: given, ticket_state_id, open, admin_id } = parsed.data;
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
  return { status: 200, body: viewTicket(store, one) ?? {} };
}
