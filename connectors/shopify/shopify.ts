import { defineConnector } from '../../core/connector/contract.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { actions, actor } from './actions.ts';
import { shopifyApi } from './api.ts';
import { events, proof, verify } from './events.ts';
import { isOrderId, type WholeOrder, wholeReader } from './order.ts';
import { poller } from './poll.ts';
import { preflight } from './preflight.ts';
import { present, type ShopifyShape } from './record.ts';
import { addressOf, settings } from './settings.ts';
import { writing } from './write.ts';

/**
 * Shopify: orders that were paid, handed over, or delivered.
 *
 * An app in the shop sends webhooks, all signed with its client secret, and lends its token. It needs the scopes in
 * `responses.ts`; `setup` makes the webhooks and the metafields that take the answer. Compliance webhooks
 * (`customers/data_request`, `customers/redact`, `shop/redact`) are set to the same address in the app itself.
 */
export const shopify = defineConnector({
  name: 'shopify',
  settings,
  actions,
  account: ({ shop }) => shop,
  ownDomains: ({ shop }) => [shop],
  parts: {
    tags: ['order.tags', 'customer.tags'],
    channels: ['order.source'],
    openedAt: ['order.createdAt'],
    customer: ['contact.email', 'contact.phones'],
  },
  open: (settings, ports) => {
    const { webhookSecrets: secrets } = settings;
    const api = shopifyApi(settings, ports);
    // Answers and actions read rows of their own.
    return desk<WholeOrder, ShopifyShape, string, unknown>({
      ...{ vendor: 'Shopify', record: 'order', poll: poller(settings, api, ports) },
      intake: { secrets, proof, events: (body, delivery) => events(body, delivery, settings) },
      read: {
        isId: isOrderId,
        many: wholeReader(settings, api),
        present: async () => (whole) => present(whole, settings, ports.now()),
      },
      write: writing(settings, api),
      preflight: preflight(settings, api),
      own: {
        taken: { status: 200 },
        verify: (delivery) => verify(delivery, secrets, settings.shop),
        ...actor(settings, api),
        // People know an order by its name (#1042), and not by its id.
        recordNames: { like: '5791244910855', parse: (written) => written },
        recordUrl: (id) => `${addressOf(settings)}/admin/orders/${encodeURIComponent(id)}`,
      },
    });
  },
});
