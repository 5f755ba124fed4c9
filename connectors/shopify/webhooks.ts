import { z } from 'zod';
import type { Urgency } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ShopifyApi } from './api.ts';
import { mutate } from './mutations.ts';
import { scopes } from './responses.ts';
import type { ShopifySettings } from './settings.ts';

export const missingScopes = (granted: readonly string[]): string[] =>
  scopes.filter((one) => !granted.includes(one) && !granted.includes(one.replace('read_', 'write_')));

const App = z
  .object({
    currentAppInstallation: z.object({
      accessScopes: listOf(z.object({ handle: z.string() })),
      app: z.object({ webhookApiVersion: z.string() }),
    }),
    shop: z.object({ myshopifyDomain: z.string() }),
  })
  .transform(({ currentAppInstallation: { accessScopes, app }, shop }) => ({
    scopes: accessScopes.map(({ handle }) => handle),
    /** The API version of webhooks, which is a setting of the app. */
    webhookVersion: app.webhookApiVersion,
    shop: shop.myshopifyDomain,
  }));
export type InstalledApp = z.output<typeof App>;

export function installedApp(api: ShopifyApi): Promise<InstalledApp> {
  const document = `query App {
    currentAppInstallation { accessScopes { handle } app { webhookApiVersion } } shop { myshopifyDomain }
  }`;
  return api.call({ name: 'App', document, data: App, price: { base: 4, each: 0 } });
}

/** The topics of this source's webhooks, by their names in the API. The API has no subscriptions to compliance topics. */
export function topicsFor({ trigger, parcels }: Pick<ShopifySettings, 'trigger' | 'parcels'>): string[] {
  const first = parcels === 'first' ? ['FULFILLMENTS_CREATE'] : [];
  const closing = trigger === 'paid' ? ['ORDERS_PAID'] : ['ORDERS_FULFILLED', 'FULFILLMENTS_UPDATE', ...first];
  return [...closing, 'ORDERS_CANCELLED', 'REFUNDS_CREATE', 'APP_UNINSTALLED', 'APP_SCOPES_UPDATE'];
}

const Subscription = z.object({
  ...{ id: z.string(), topic: z.string(), uri: z.string(), format: z.string(), filter: z.string().nullish() },
  includeFields: listOf(z.string()),
});
export type Subscription = z.output<typeof Subscription>;

const Subscriptions = z.object({ webhookSubscriptions: z.object({ nodes: listOf(Subscription) }) });

/** The API lists only webhooks that it created itself, and not those of a shopify.app.toml. */
export async function listSubscriptions(api: ShopifyApi, urgency: Urgency): Promise<Subscription[]> {
  const fields = 'id topic uri format filter includeFields';
  const document = `query Subscriptions { webhookSubscriptions(first: 100) { nodes { ${fields} } } }`;
  const operation = { name: 'Subscriptions', document, data: Subscriptions, price: { base: 102, each: 0 } };
  return (await api.call(operation, {}, urgency)).webhookSubscriptions.nodes;
}

/** Creates a webhook. A webhook that exists already, after an attempt with an unknown outcome, counts as created. */
export async function subscribe(api: ShopifyApi, topic: string, uri: string, urgency: Urgency = 'work'): Promise<void> {
  const call = `webhookSubscriptionCreate(topic: ${topic}, webhookSubscription: $v)`;
  const creation = { call, type: 'WebhookSubscriptionInput!', value: { uri, format: 'JSON' } };
  const why = await mutate(api, 'Subscribe', [creation], urgency);
  if (why === undefined) return;
  const all = await listSubscriptions(api, urgency);
  if (all.some((one) => one.topic === topic && one.uri === uri)) return;
  const needs = `its address must be https and public, and the app must be allowed ${scopes.join(', ')}`;
  throw new CloseloopError(`Shopify refuses the webhook ${topic} (${why}): ${needs}`, { kind: 'config' });
}

export const unsubscribe = (api: ShopifyApi, id: string) =>
  mutate(api, 'Unsubscribe', [{ call: 'webhookSubscriptionDelete(id: $v)', type: 'ID!', value: id }]);
