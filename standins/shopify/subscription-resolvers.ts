import type { Context } from './context.ts';
import type { Subscription } from './model.ts';
import { connection, type Page, subscriptionView } from './views.ts';

interface SubscriptionInput {
  uri?: string | null;
  format?: 'JSON' | 'XML' | null;
  filter?: string | null;
  includeFields?: string[] | null;
}

/** The fields of QueryRoot and Mutation about subscriptions to webhooks. */
export function subscriptionResolvers(context: Context) {
  const { store, now, scopes } = context;
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
