import type { Context } from './context.ts';
import { metafieldResolvers } from './metafield-resolvers.ts';
import { orderResolvers } from './order-resolvers.ts';
import { subscriptionResolvers } from './subscription-resolvers.ts';
import { gid } from './views.ts';

/** The fields of QueryRoot and Mutation, as the schema names them. */
export function rootOf(context: Context) {
  const { store, scopes, shop, webhookVersion } = context;
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
