import { z } from 'zod';
import type { Urgency } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ShopifyApi } from './api.ts';
import { scopes } from './scopes.ts';
import type { ShopifySettings } from './settings.ts';

/** The topics of this source's webhooks, as the API names them. The API has no subscriptions to compliance topics. */
export function topicsFor({ trigger, parcels }: Pick<ShopifySettings, 'trigger' | 'parcels'>): string[] {
  const closing =
    trigger === 'paid'
      ? ['ORDERS_PAID']
      : ['ORDERS_FULFILLED', 'FULFILLMENTS_UPDATE', ...(parcels === 'first' ? ['FULFILLMENTS_CREATE'] : [])];
  return [...closing, 'ORDERS_CANCELLED', 'REFUNDS_CREATE', 'APP_UNINSTALLED', 'APP_SCOPES_UPDATE'];
}

export const Subscription = z.object({
  id: z.string(),
  topic: z.string(),
  uri: z.string(),
  format: z.string(),
  filter: z.string().nullish(),
  includeFields: listOf(z.string()),
});
export type Subscription = z.output<typeof Subscription>;

/** The fields of `webhookSubscriptions`; only those made by the API are listed, not those of a shopify.app.toml. */
export const subscriptionFields =
  'webhookSubscriptions(first: 100) { nodes { id topic uri format filter includeFields } }';
const subscriptionPoints = 102;
export const Subscriptions = z.object({ webhookSubscriptions: z.object({ nodes: listOf(Subscription) }) });

export async function listSubscriptions(api: ShopifyApi, urgency: Urgency): Promise<Subscription[]> {
  const document = `query Subscriptions { ${subscriptionFields} }`;
  const price = { base: subscriptionPoints, each: 0 };
  const found = await api.call({ name: 'Subscriptions', document, data: Subscriptions, price }, {}, urgency);
  return found.webhookSubscriptions.nodes;
}

const Outcome = z.object({ userErrors: listOf(z.object({ field: listOf(z.string()).nullish() })) }).nullable();
const change = { data: z.object({ done: Outcome }), price: { base: 11, each: 0 } };

/** Creates a webhook. One that exists already, after an attempt with an unknown outcome, counts as created. */
export async function subscribe(api: ShopifyApi, topic: string, uri: string, urgency: Urgency = 'work'): Promise<void> {
  const document = `mutation Subscribe($topic: WebhookSubscriptionTopic!, $subscription: WebhookSubscriptionInput!) {
    done: webhookSubscriptionCreate(topic: $topic, webhookSubscription: $subscription) { userErrors { field } }
  }`;
  const variables = { topic, subscription: { uri, format: 'JSON' } };
  const { done } = await api.call({ name: 'Subscribe', document, ...change }, variables, urgency);
  if (done !== null && done.userErrors.length === 0) return;
  const all = await listSubscriptions(api, urgency);
  if (all.some((one) => one.topic === topic && one.uri === uri)) return;
  const at = done?.userErrors[0]?.field?.filter((part) => /^\w{1,40}$/.test(part)).join('.') ?? 'an unnamed field';
  throw new CloseloopError(
    `Shopify refuses the webhook ${topic} (${at}): its address must be https and public, and the app must be allowed ${scopes.join(', ')}`,
    { kind: 'config' },
  );
}

export async function unsubscribe(api: ShopifyApi, id: string): Promise<void> {
  const document = `mutation Unsubscribe($id: ID!) {
    done: webhookSubscriptionDelete(id: $id) { userErrors { field } }
  }`;
  await api.call({ name: 'Unsubscribe', document, ...change }, { id });
}
