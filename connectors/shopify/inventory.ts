import { z } from 'zod';
import { listOf } from '../../core/entries.ts';
import type { ShopifyApi } from './api.ts';
import type { ShopifySettings } from './settings.ts';
import { type Subscription, Subscriptions, subscriptionFields } from './subscriptions.ts';

const Definition = z.object({
  key: z.string(),
  type: z.object({ name: z.string() }),
  validations: listOf(z.object({ name: z.string(), value: z.string().nullish() })),
});
export type Definition = z.output<typeof Definition>;

const Answer = z.object({
  currentAppInstallation: z.object({
    accessScopes: listOf(z.object({ handle: z.string() })),
    app: z.object({ webhookApiVersion: z.string() }),
  }),
  shop: z.object({ myshopifyDomain: z.string() }),
  ...Subscriptions.shape,
  metafieldDefinitions: z.object({ nodes: listOf(Definition) }),
});

/** The parts of the shop that this source needs. */
export interface Inventory {
  scopes: string[];
  /** The version that shapes webhooks: a setting of the app. */
  webhookVersion: string;
  shop: string;
  subscriptions: Subscription[];
  /** Of order metafields in the namespace of `writeBack`, by key. */
  definitions: ReadonlyMap<string, Definition>;
}

/** One call. */
export async function takeInventory(settings: ShopifySettings, api: ShopifyApi): Promise<Inventory> {
  const document = `query Inventory($namespace: String!) {
    currentAppInstallation { accessScopes { handle } app { webhookApiVersion } }
    shop { myshopifyDomain }
    ${subscriptionFields}
    metafieldDefinitions(first: 250, ownerType: ORDER, namespace: $namespace) {
      nodes { key type { name } validations { name value } }
    }
  }`;
  const price = { base: 900, each: 0 };
  const operation = { name: 'Inventory', document, data: Answer, price };
  const found = await api.call(operation, { namespace: settings.writeBack.namespace });
  return {
    scopes: found.currentAppInstallation.accessScopes.map(({ handle }) => handle),
    webhookVersion: found.currentAppInstallation.app.webhookApiVersion,
    shop: found.shop.myshopifyDomain,
    subscriptions: found.webhookSubscriptions.nodes,
    definitions: new Map(found.metafieldDefinitions.nodes.map((one) => [one.key, one])),
  };
}
