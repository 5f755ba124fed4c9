import type { Guide } from './kit/guide.ts';
import type { StandinServer } from './kit/server.ts';

export { guideText } from './kit/guide.ts';

interface Standin {
  start(options: { port: number }): Promise<StandinServer>;
  guide: Guide;
}

/** Every stand-in, by the name of whose API it doubles; loaded when it is asked for. */
export const standins: Readonly<Record<string, () => Promise<Standin>>> = {
  feedback: async () => {
    const { startFeedbackStandin } = await import('./feedback/standin.ts');
    const { guide } = await import('./feedback/standin.ts');
    return { start: (options) => startFeedbackStandin({ ...options, seed: true }), guide };
  },
  freshdesk: async () => {
    const { startFreshdeskStandin: start } = await import('./freshdesk/standin.ts');
    return { start, guide: (await import('./freshdesk/standin.ts')).guide };
  },
  hubspot: async () => {
    const { startHubspotStandin: start } = await import('./hubspot/standin.ts');
    return { start, guide: (await import('./hubspot/standin.ts')).guide };
  },
  intercom: async () => {
    const { startIntercomStandin: start } = await import('./intercom/standin.ts');
    return { start, guide: (await import('./intercom/standin.ts')).guide };
  },
  shopify: async () => {
    const { startShopifyStandin: start } = await import('./shopify/standin.ts');
    return { start, guide: (await import('./shopify/standin.ts')).guide };
  },
  webhook: async () => {
    const { startWebhookStandin: start } = await import('./webhook/standin.ts');
    return { start, guide: (await import('./webhook/standin.ts')).guide };
  },
  woocommerce: async () => {
    const { startWooCommerceStandin: start } = await import('./woocommerce/standin.ts');
    return { start, guide: (await import('./woocommerce/standin.ts')).guide };
  },
  zendesk: async () => {
    const { startZendeskStandin: start } = await import('./zendesk/standin.ts');
    return { start, guide: (await import('./zendesk/standin.ts')).guide };
  },
};
