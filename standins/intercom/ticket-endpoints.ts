import { z } from 'zod';
import { jsonBody, type StandinResponse } from '../kit/message.ts';
import type { Params, Route } from '../kit/router.ts';
import type { Context } from './context.ts';
import { adminOf, attachTag, here, NoteOfTicket, note, setValues } from './conversation-endpoints.ts';
import type { Conversation } from './model.ts';
import { invalid, problem } from './problem.ts';
import { searchRoute, ticketFields } from './search.ts';
import { appCode, bot } from './store.ts';
import { viewTicket, viewTicketPart } from './views.ts';

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
