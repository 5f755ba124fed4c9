import { guide as feedback } from './feedback/guide.ts';
import { startFeedbackStandin } from './feedback/standin.ts';
import { type Guide, guideText } from './kit/guide.ts';
import { guide as hubspot } from './hubspot/guide.ts';
import { startHubspotStandin } from './hubspot/standin.ts';
import type { StandinServer } from './kit/server.ts';
import { guide as shopify } from './shopify/guide.ts';
import { startShopifyStandin } from './shopify/standin.ts';
import { guide as webhook } from './webhook/guide.ts';
import { startWebhookStandin } from './webhook/standin.ts';
import { guide as woocommerce } from './woocommerce/guide.ts';
import { startWooCommerceStandin } from './woocommerce/standin.ts';
import { guide as zendesk } from './zendesk/guide.ts';
import { startZendeskStandin } from './zendesk/standin.ts';

export { guideText };

interface Standin {
  start(options: { port: number }): Promise<StandinServer>;
  guide: Guide;
}

/** Every stand-in, by the name of whose API it doubles. */
export const standins: Readonly<Record<string, Standin>> = {
  feedback: { start: (options) => startFeedbackStandin({ ...options, seed: true }), guide: feedback },
  hubspot: { start: startHubspotStandin, guide: hubspot },
  shopify: { start: startShopifyStandin, guide: shopify },
  webhook: { start: startWebhookStandin, guide: webhook },
  woocommerce: { start: startWooCommerceStandin, guide: woocommerce },
  zendesk: { start: startZendeskStandin, guide: zendesk },
};
