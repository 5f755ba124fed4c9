import { startFeedbackStandin } from './feedback/standin.ts';
import { startHubspotStandin } from './hubspot/standin.ts';
import type { StandinServer } from './server.ts';
import { startShopifyStandin } from './shopify/standin.ts';
import { startWebhookStandin } from './webhook/standin.ts';
import { startWooCommerceStandin } from './woocommerce/standin.ts';
import { startZendeskStandin } from './zendesk/standin.ts';

/** Every stand-in, by the name of whose API it doubles. */
export const standins: Readonly<Record<string, (options: { port: number }) => Promise<StandinServer>>> = {
  feedback: (options) => startFeedbackStandin({ ...options, seed: true }),
  hubspot: startHubspotStandin,
  shopify: startShopifyStandin,
  webhook: startWebhookStandin,
  woocommerce: startWooCommerceStandin,
  zendesk: startZendeskStandin,
};
