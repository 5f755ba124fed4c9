import type { BuiltIn } from '../core/connector/built-in.ts';

/** Every connector that ships with closeloop. */
export const builtIn: readonly BuiltIn[] = [
  {
    name: 'hubspot',
    load: async () => (await import('./hubspot/hubspot.ts')).hubspot,
    onboarding: async () => (await import('./hubspot/onboarding.ts')).onboarding,
  },
  {
    name: 'intercom',
    load: async () => (await import('./intercom/intercom.ts')).intercom,
    onboarding: async () => (await import('./intercom/onboarding.ts')).onboarding,
  },
  {
    name: 'request-tracker',
    load: async () => (await import('./request-tracker/request-tracker.ts')).requestTracker,
    onboarding: async () => (await import('./request-tracker/onboarding.ts')).onboarding,
  },
  {
    name: 'shopify',
    load: async () => (await import('./shopify/shopify.ts')).shopify,
    onboarding: async () => (await import('./shopify/onboarding.ts')).onboarding,
  },
  {
    name: 'webhook',
    load: async () => (await import('./webhook/webhook.ts')).webhook,
    onboarding: async () => (await import('./webhook/onboarding.ts')).onboarding,
  },
  {
    name: 'woocommerce',
    load: async () => (await import('./woocommerce/woocommerce.ts')).woocommerce,
    onboarding: async () => (await import('./woocommerce/onboarding.ts')).onboarding,
  },
  {
    name: 'zendesk',
    load: async () => (await import('./zendesk/zendesk.ts')).zendesk,
    onboarding: async () => (await import('./zendesk/onboarding.ts')).onboarding,
  },
];
