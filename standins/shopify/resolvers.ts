import { GraphQLError } from 'graphql';
import type { Order, Subscription } from './definitions.ts';
import { metafieldResolvers } from './metafields.ts';
import { type Context, connection, gid, orderView, type Page, subscriptionView, visibleOrder } from './views.ts';

/** The fields of QueryRoot and Mutation, as the schema names them. */
export function rootOf(context: Context) {
  const { store, shop } = context;
  const { scopes, webhookVersion } = context.settings;
  return {
    ...orderResolvers(context),
    ...metafieldResolvers(context),
    ...subscriptionResolvers(context),
    shop: () => ({
      id: gid('Shop', shop.id),
      name: 'Nordlicht Kaffee & Tee',
      myshopifyDomain: shop.domain,
      ianaTimezone: 'Europe/Berlin',
      currencyCode: 'EUR',
    }),
    currentAppInstallation: () => ({
      id: gid('AppInstallation', '71'),
      app: {
        id: gid('App', store.appNumber),
        apiKey: 'shopify-client',
        title: 'closeloop',
        webhookApiVersion: webhookVersion,
      },
      accessScopes: scopes.map((handle) => ({ handle, description: handle })),
    }),
  };
}

/** The fields of QueryRoot and Mutation about orders, their tags and notes. */
function orderResolvers(context: Context) {
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
    if (context.settings.broken.includes(found.id)) throw new Error('Something went wrong');
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
        .filter((one) => one.updatedAt >= since && one.updatedAt <= now - context.settings.searchLagMs)
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

interface SubscriptionInput {
  uri?: string | null;
  format?: 'JSON' | 'XML' | null;
  filter?: string | null;
  includeFields?: string[] | null;
}

/** The fields of QueryRoot and Mutation about subscriptions to webhooks. */
function subscriptionResolvers(context: Context) {
  const { store, now } = context;
  const { scopes } = context.settings;
  const own = (found: Subscription) => !found.ofApp;
  return {
    webhookSubscriptions: ({ topics, uri, ...page }: Page & { topics?: string[] | null; uri?: string | null }) =>
      connection(
        store.subscriptions.filter(
          (one) => own(one) && (topics == null || topics.includes(one.topic)) && (uri == null || one.uri === uri),
        ),
        page,
        (one) => subscriptionView(one, context),
      ),
    webhookSubscriptionCreate({
      topic,
      webhookSubscription: given,
    }: {
      topic: string;
      webhookSubscription: SubscriptionInput;
    }) {
      const refuse = (field: string[], message: string) => ({
        userErrors: [{ field, message }],
        webhookSubscription: null,
      });
      const rights = rightsFor(topic);
      if (rights.length > 0 && !rights.some((one) => scopes.includes(one))) {
        return refuse(['topic'], `You do not have permission to create or update webhooks with ${topic} topic.`);
      }
      const uri = given.uri ?? '';
      if (!isDeliverable(uri)) return refuse(['webhookSubscription', 'uri'], 'Address is invalid');
      const filter = given.filter ?? null;
      if (
        store.subscriptions.some((one) => own(one) && one.topic === topic && one.uri === uri && one.filter === filter)
      ) {
        return refuse(['webhookSubscription', 'uri'], 'Address for this topic has already been taken');
      }
      const made = store.addSubscription(
        { topic, uri, filter, format: given.format ?? 'JSON', includeFields: given.includeFields ?? [], ofApp: false },
        now,
      );
      return { userErrors: [], webhookSubscription: subscriptionView(made, context) };
    },
    webhookSubscriptionDelete({ id }: { id: string }) {
      const digits = /(\d+)$/.exec(id)?.[1];
      const found = store.subscriptions.find((one) => own(one) && one.id === digits);
      if (found === undefined) {
        return {
          userErrors: [{ field: ['id'], message: 'Webhook subscription does not exist' }],
          deletedWebhookSubscriptionId: null,
        };
      }
      store.subscriptions = store.subscriptions.filter((one) => one !== found);
      return { userErrors: [], deletedWebhookSubscriptionId: id };
    },
  };
}

/** https, as Shopify wants it; and this machine, as there would be no test otherwise. */
function isDeliverable(uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { protocol, hostname } = new URL(uri);
  return protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1');
}

/** Any of these lets an app subscribe; none is needed where there are none. Source: the topics' descriptions. */
function rightsFor(topic: string): string[] {
  if (topic.startsWith('FULFILLMENT_EVENTS')) return ['read_fulfillments', 'write_fulfillments'];
  if (topic.startsWith('FULFILLMENTS')) return ['read_fulfillments', 'write_fulfillments', 'read_marketplace_orders'];
  if (/^(ORDERS|REFUNDS)_/.test(topic)) return ['read_orders', 'write_orders', 'read_marketplace_orders'];
  if (topic.startsWith('CUSTOMERS')) return ['read_customers', 'write_customers'];
  return [];
}
