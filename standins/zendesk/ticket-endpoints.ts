import { ok, type StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import type { Ticket } from './model.ts';
import { idsOf, paged } from './paging.ts';
import { sideloads, viewWithMetrics } from './sideloads.ts';
import { visibleTicket } from './ticket-body.ts';
import { viewAudit, viewMetricSet } from './views.ts';

const one = '/api/v2/tickets/{id:\\d+}';

/** What can be read of tickets. */
export const ticketRoutes: Route<Context>[] = [
  route('GET', '/api/v2/tickets/show_many', showMany),
  route('GET', one, (context, { id }) => show(context, visibleTicket(context.store, Number(id)))),
  route('GET', `${one}/audits`, (context, { id }) =>
    ok(paged(context, 'audits', visibleTicket(context.store, Number(id)).audits.map(viewAudit))),
  ),
  route('GET', `${one}/comments`, (context, { id }) => comments(context, visibleTicket(context.store, Number(id)))),
  route('GET', `${one}/metrics`, (context, { id }) =>
    ok({ ticket_metric: viewMetricSet(visibleTicket(context.store, Number(id)), context.base) }),
  ),
  route('GET', `${one}/tags`, (context, { id }) => ok({ tags: visibleTicket(context.store, Number(id)).tags })),
];

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

function comments(context: Context, ticket: Ticket): StandinResponse {
  const list = ticket.audits.flatMap((audit) =>
    audit.events
      .filter((event) => event.type === 'Comment')
      .map((event) => ({ ...event, audit_id: audit.id, created_at: new Date(audit.createdAt).toISOString() })),
  );
  return ok(paged(context, 'comments', list));
}
