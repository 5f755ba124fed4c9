import type { BuiltIn } from '../core/connector/built-in.ts';

/** Every connector that ships with closeloop. */
export const builtIn: readonly BuiltIn[] = [
  { name: 'hubspot', load: async () => (await import('./hubspot/hubspot.ts')).hubspot },
  { name: 'intercom', load: async () => (await import('./intercom/intercom.ts')).intercom },
  { name: 'shopify', load: async () => (await import('./shopify/shopify.ts')).shopify },
  { name: 'webhook', load: async () => (await import('./webhook/webhook.ts')).webhook },
  { name: 'woocommerce', load: async () => (await import('./woocommerce/woocommerce.ts')).woocommerce },
  { name: 'zendesk', load: async () => (await import('./zendesk/zendesk.ts')).zendesk },
];
