import type { Guide } from './kit/guide.ts';
import type { StandinServer } from './kit/server.ts';

export { guideText } from './kit/guide.ts';

interface Standin {
  start(options: { port: number }): Promise<StandinServer>;
  guide: Guide;
}

/** Every stand-in, by the name of whose API it doubles; loaded when it is asked for. */
export const standins: Readonly<Record<string, () => Promise<Standin>>> = {
  feedback: () =>
    import('./feedback/standin.ts').then(({ startFeedbackStandin, guide }) => {
      return { start: (options) => startFeedbackStandin({ ...options, seed: true }), guide };
    }),
  freshdesk: () =>
    import('./freshdesk/standin.ts').then(({ startFreshdeskStandin: start, guide }) => ({ start, guide })),
  hubspot: () => import('./hubspot/standin.ts').then(({ startHubspotStandin: start, guide }) => ({ start, guide })),
  intercom: () => import('./intercom/standin.ts').then(({ startIntercomStandin: start, guide }) => ({ start, guide })),
  shopify: () => import('./shopify/standin.ts').then(({ startShopifyStandin: start, guide }) => ({ start, guide })),
  webhook: () => import('./webhook/standin.ts').then(({ startWebhookStandin: start, guide }) => ({ start, guide })),
  woocommerce: () =>
    import('./woocommerce/standin.ts').then(({ startWooCommerceStandin: start, guide }) => ({ start, guide })),
  zendesk: () => import('./zendesk/standin.ts').then(({ startZendeskStandin: start, guide }) => ({ start, guide })),
};
