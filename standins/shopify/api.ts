import { GraphQLError } from 'graphql';
import { fitting, isOpen, keep, type SetInput } from './metafields.ts';
import type { Order, Subscription } from './model.ts';
import type { Occurrence } from './store.ts';
import {
  connection,
  definitionView,
  gid,
  metafieldView,
  orderView,
  type Page,
  type Sight,
  subscriptionView,
} from './views.ts';

/** What the root of a call works with. */
export interface Context extends Sight {
  shop: { id: string; domain: string };
  scopes: readonly string[];
  now: number;
  searchLagMs: number;
  /** Tells the webhooks. */
  tell: (occurrences: readonly Occurrence[]) => void;
}

interface UserError {
  field: string[];
  message: string;
}

const sixtyDaysMs = 60 * 86_400_000;

/** The fields of QueryRoot and Mutation, as the schema names them. */
export function rootOf(context: Context) {
  const { store, need, now, scopes, shop, tell } = context;

  const order = (id: string, type = 'Order'): Order | undefined => {
    const digits = new RegExp(`^gid://shopify/${type}/(\\d+)$`).exec(id)?.[1];
    const found = store.orders.get(digits ?? '');
    if (found === undefined) return undefined;
    need('read_orders', 'read_marketplace_orders', 'read_quick_sale');
    return found.createdAt < now - sixtyDaysMs && !scopes.includes('read_all_orders') ? undefined : found;
  };
  const node = ({ id }: { id: string }) => {
    if (!/^gid:\/\/shopify\/[A-Za-z]+\/[\w-]+(\?.*)?$/.test(id)) {
      throw new GraphQLError(`Invalid global id '${id}'`, { extensions: { code: 'argumentLiteralsIncompatible' } });
    }
    const found = order(id);
    return found === undefined ? null : orderView(found, context);
  };
  const own = (found: Subscription) => !found.ofApp;
  const errors = (...userErrors: UserError[]) => ({ userErrors });
  const missing = errors({ field: ['id'], message: 'Resource not found' });

  /** Tags are told apart without regard to case. */
  const retag = (id: string, change: (tags: string[]) => string[]) => {
    need('write_orders');
    const found = order(id);
    if (found === undefined) return { ...missing, node: null };
    const tags = change(found.tags);
    const longest = Math.max(0, ...tags.map((tag) => tag.length));
    if (tags.length > 250 || longest > 40) {
      return { ...errors({ field: ['tags'], message: 'Tags are limited to 250 of 40 characters' }), node: null };
    }
    const changed = JSON.stringify(tags) !== JSON.stringify(found.tags);
    found.tags = tags;
    if (changed) tell(store.touched(found, now));
    return { ...errors(), node: orderView(found, context) };
  };
  const lower = (tag: string): string => tag.trim().toLowerCase();

  return {
    node,
    order: ({ id }: { id: string }) => node({ id }),
    nodes({ ids }: { ids: string[] }) {
      if (ids.length > 250)
        throw new GraphQLError('The input array size of 251 is greater than the maximum allowed of 250.');
      return ids.map((id) => node({ id }));
    },
    orders({ query, sortKey, reverse, ...page }: Page & { query?: string | null; sortKey: string; reverse: boolean }) {
      need('read_orders', 'read_marketplace_orders');
      const since = Date.parse(/updated_at:>='([^']+)'/.exec(query ?? '')?.[1] ?? '1970-01-01T00:00:00Z');
      const status = /fulfillment_status:(\w+)/.exec(query ?? '')?.[1];
      const at = (one: Order): number => (sortKey === 'UPDATED_AT' ? one.updatedAt : one.createdAt);
      const found = [...store.orders.values()]
        .filter((one) => one.updatedAt >= since && one.updatedAt <= now - context.searchLagMs)
        .filter((one) => order(gid('Order', one.id)) !== undefined)
        .filter(
          (one) => status === undefined || orderView(one, context).displayFulfillmentStatus.toLowerCase() === status,
        )
        .sort((a, b) => (reverse ? -1 : 1) * (at(a) - at(b) || (a.id < b.id ? -1 : 1)));
      const place = (one: Order): string => `${String(at(one)).padStart(15, '0')} ${one.id.padStart(20, '0')}`;
      return connection(found, page, (one) => orderView(one, context), reverse ? undefined : place);
    },
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
        webhookApiVersion: context.webhookVersion,
      },
      accessScopes: scopes.map((handle) => ({ handle, description: handle })),
    }),
    webhookSubscriptions: ({ topics, uri, ...page }: Page & { topics?: string[] | null; uri?: string | null }) =>
      connection(
        store.subscriptions.filter(
          (one) => own(one) && (topics == null || topics.includes(one.topic)) && (uri == null || one.uri === uri),
        ),
        page,
        (one) => subscriptionView(one, context),
      ),
    metafieldDefinitions({ key, namespace, ...page }: Page & { key?: string | null; namespace?: string | null }) {
      need('read_orders');
      const found = store.definitions.filter(
        (one) =>
          (key == null || one.key === key) && (namespace == null || one.namespace === store.namespaceOf(namespace)),
      );
      return connection(found, page, definitionView);
    },

    metafieldsSet({ metafields }: { metafields: SetInput[] }) {
      need('write_orders');
      const result = fitting(store, metafields);
      if (!result.ok) return { metafields: null, userErrors: result.errors };
      const changed = new Set<Order>();
      const kept = result.all.map((one, index) => {
        const key = metafields[index]?.key ?? '';
        if (keep(one.order, key, one, store.nextId(), now)) changed.add(one.order);
        const held = one.order.metafields.get(`${one.namespace}.${key}`);
        return held === undefined ? null : metafieldView(held);
      });
      for (const one of changed) tell(store.touched(one, now));
      return { metafields: kept, userErrors: [] };
    },
    metafieldsDelete({ metafields }: { metafields: { ownerId: string; namespace: string; key: string }[] }) {
      need('write_orders');
      const refuse = (...userErrors: UserError[]) => ({ deletedMetafields: null, userErrors });
      if (metafields.length === 0) {
        return refuse({ field: ['metafields'], message: 'At least one metafield identifier must be specified.' });
      }
      const foreign = metafields.findIndex(({ namespace }) => !isOpen(store, namespace));
      if (foreign >= 0) {
        const field = ['metafields', String(foreign), 'namespace'];
        return refuse({ field, message: 'Access to this namespace and key is not allowed.' });
      }
      const touched = new Set<Order>();
      const deletedMetafields = metafields.map((one) => {
        const found = order(one.ownerId);
        if (found?.metafields.delete(`${store.namespaceOf(one.namespace)}.${one.key}`) !== true) return null;
        touched.add(found);
        return { ...one, namespace: store.namespaceOf(one.namespace) };
      });
      for (const one of touched) tell(store.touched(one, now));
      return { deletedMetafields, userErrors: [] };
    },
    metafieldDefinitionCreate({ definition }: { definition: DefinitionInput }) {
      need('write_orders');
      const { namespace, key, name, type, validations, access, ownerType } = definition;
      const refuse = (code: string, field: string, message: string) => ({
        createdDefinition: null,
        userErrors: [{ code, field: ['definition', field], message }],
      });
      const full = store.namespaceOf(namespace);
      if (ownerType !== 'ORDER') return refuse('INVALID', 'ownerType', 'This stand-in knows orders only.');
      if (!full.startsWith('app--') && access?.admin != null) {
        return refuse('ADMIN_ACCESS_INPUT_NOT_ALLOWED', 'access', 'Setting this access control is not permitted.');
      }
      if (name.length > 255) return refuse('TOO_LONG', 'name', 'Name is too long (maximum is 255 characters)');
      if (!/^[\w-]{2,64}$/.test(key))
        return refuse('INVALID_CHARACTER', 'key', 'Key contains one or more invalid characters.');
      if (!known.includes(type)) return refuse('INCLUSION', 'type', `Type name ${type} is not a valid type.`);
      if (store.definitions.some((one) => one.namespace === full && one.key === key)) {
        return refuse('TAKEN', 'key', 'Key is in use for Order metafields on this namespace.');
      }
      const made = store.addDefinition({
        namespace: namespace ?? '$app',
        key,
        name,
        type,
        validations: validations ?? [],
      });
      made.access = access?.admin ?? made.access;
      return { createdDefinition: definitionView(made), userErrors: [] };
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
      const found = order(input.id);
      if (found === undefined) return { ...missing, order: null };
      if ((input.note ?? '').length > 5_000) {
        return {
          ...errors({ field: ['note'], message: 'Note is too long (maximum is 5000 characters)' }),
          order: null,
        };
      }
      if (input.note !== undefined) found.note = input.note;
      // Replaces them all.
      if (input.tags != null) found.tags = input.tags;
      tell(store.touched(found, now));
      return { ...errors(), order: orderView(found, context) };
    },
    webhookSubscriptionCreate({
      topic,
      webhookSubscription: given,
    }: {
      topic: string;
      webhookSubscription: SubscriptionInput;
    }) {
      const refuse = (field: string[], message: string) => ({
        ...errors({ field, message }),
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
      return { ...errors(), webhookSubscription: subscriptionView(made, context) };
    },
    webhookSubscriptionDelete({ id }: { id: string }) {
      const digits = /(\d+)$/.exec(id)?.[1];
      const found = store.subscriptions.find((one) => own(one) && one.id === digits);
      if (found === undefined) {
        return {
          ...errors({ field: ['id'], message: 'Webhook subscription does not exist' }),
          deletedWebhookSubscriptionId: null,
        };
      }
      store.subscriptions = store.subscriptions.filter((one) => one !== found);
      return { ...errors(), deletedWebhookSubscriptionId: id };
    },
  };
}

interface DefinitionInput {
  namespace?: string | null;
  key: string;
  name: string;
  type: string;
  ownerType: string;
  validations?: { name: string; value: string }[] | null;
  access?: { admin?: 'MERCHANT_READ' | 'MERCHANT_READ_WRITE' | null } | null;
}

interface SubscriptionInput {
  uri?: string | null;
  format?: 'JSON' | 'XML' | null;
  filter?: string | null;
  includeFields?: string[] | null;
}

const known = [
  'number_integer',
  'number_decimal',
  'date_time',
  'date',
  'single_line_text_field',
  'multi_line_text_field',
];

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
