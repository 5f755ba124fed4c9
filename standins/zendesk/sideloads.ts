import type { Context } from './context.ts';
import type { Ticket } from './model.ts';
import { nameSideloads } from './name-endpoints.ts';
import { viewGroup, viewMetricSet, viewOrganization, viewTicket, viewUser } from './views.ts';

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
