import { GraphQLError } from 'graphql';
import type { Context } from './context.ts';
import type { Order } from './model.ts';
import { connection, gid, orderView, type Page } from './views.ts';

const sixtyDaysMs = 60 * 86_400_000;

/** What the token may see; nothing older than sixty days without `read_all_orders`. @throws GraphQLError ACCESS_DENIED */
export function visibleOrder({ store, need, now, scopes }: Context, id: string): Order | undefined {
  const digits = /^gid:\/\/shopify\/Order\/(\d+)$/.exec(id)?.[1];
  const found = store.orders.get(digits ?? '');
  if (found === undefined) return undefined;
  need('read_orders', 'read_marketplace_orders', 'read_quick_sale');
  return found.createdAt < now - sixtyDaysMs && !scopes.includes('read_all_orders') ? undefined : found;
}

/** The fields of QueryRoot and Mutation about orders, their tags and notes. */
export function orderResolvers(context: Context) {
  const { store, need, now, notify } = context;
  const node = ({ id }: { id: string }) => {
    if (!/^gid:\/\/shopify\/[A-Za-z]+\/[\w-]+(\?.*)?$/.test(id)) {
      throw new GraphQLError(`Invalid global id '${id}'`, { extensions: { code: 'argumentLiteralsIncompatible' } });
    }
    const found = visibleOrder(context, id);
    return found === undefined ? null : orderView(found, context);
  };
  const error = (field: string, message: string) => ({ userErrors: [{ field: [field], message }] });
  const missing = error('id', 'Resource not found');

  /** Tags are told apart without regard to case. */
  const retag = (id: string, change: (tags: string[]) => string[]) => {
    const customer = store.customers.get(/^gid:\/\/shopify\/Customer\/(\d+)$/.exec(id)?.[1] ?? '');
    if (customer !== undefined) {
      need('write_customers');
      customer.tags = change(customer.tags);
      return { userErrors: [], node: null };
    }
    need('write_orders');
    const found = visibleOrder(context, id);
    if (found === undefined) return { ...missing, node: null };
    if (context.broken.includes(found.id)) throw new Error('Something went wrong');
    const tags = change(found.tags);
    const longest = Math.max(0, ...tags.map((tag) => tag.length));
    if (tags.length > 250 || longest > 40) {
      return { ...error('tags', 'Tags are limited to 250 of 40 characters'), node: null };
    }
    const changed = JSON.stringify(tags) !== JSON.stringify(found.tags);
    found.tags = tags;
    if (changed) notify(store.touched(found, now));
    return { userErrors: [], node: orderView(found, context) };
  };
  const lower = (tag: string): string => tag.trim().toLowerCase();

  return {
    node,
    order: ({ id }: { id: string }) => node({ id }),
    nodes({ ids }: { ids: string[] }) {
      if (ids.length > 250)
        throw new GraphQLError(`The input array size of ${ids.length} is greater than the maximum allowed of 250.`);
      return ids.map((id) => node({ id }));
    },
    orders({ query, sortKey, reverse, ...page }: Page & { query?: string | null; sortKey: string; reverse: boolean }) {
      need('read_orders', 'read_marketplace_orders');
      const since = Date.parse(/updated_at:>='([^']+)'/.exec(query ?? '')?.[1] ?? '1970-01-01T00:00:00Z');
      const status = /fulfillment_status:(\w+)/.exec(query ?? '')?.[1];
      const at = (one: Order): number => (sortKey === 'UPDATED_AT' ? one.updatedAt : one.createdAt);
      const found = [...store.orders.values()]
        .filter((one) => one.updatedAt >= since && one.updatedAt <= now - context.searchLagMs)
        .filter((one) => visibleOrder(context, gid('Order', one.id)) !== undefined)
        .filter(
          (one) => status === undefined || orderView(one, context).displayFulfillmentStatus.toLowerCase() === status,
        )
        .sort((a, b) => (reverse ? -1 : 1) * (at(a) - at(b) || (a.id < b.id ? -1 : 1)));
      const place = (one: Order): string => `${String(at(one)).padStart(15, '0')} ${one.id.padStart(20, '0')}`;
      return connection(found, page, (one) => orderView(one, context), reverse ? undefined : place);
    },
    tagsAdd: ({ id, tags }: { id: string; tags: string[] }) =>
      retag(id, (held) => {
        const known = new Set(held.map(lower));
        return [...held, ...tags.filter((tag) => !known.has(lower(tag)))];
      }),
    tagsRemove: ({ id, tags }: { id: string; tags: string[] }) =>
      retag(id, (held) => held.filter((tag) => !tags.map(lower).includes(lower(tag)))),
    orderUpdate({ input }: { input: { id: string; note?: string | null; tags?: string[] | null } }) {
      need('write_orders', 'write_marketplace_orders', 'write_quick_sale');
      const found = visibleOrder(context, input.id);
      if (found === undefined) return { ...missing, order: null };
      if ((input.note ?? '').length > 5_000) {
        return { ...error('note', 'Note is too long (maximum is 5000 characters)'), order: null };
      }
      if (input.note !== undefined) found.note = input.note;
      // Replaces them all.
      if (input.tags != null) found.tags = input.tags;
      notify(store.touched(found, now));
      return { userErrors: [], order: orderView(found, context) };
    },
  };
}
