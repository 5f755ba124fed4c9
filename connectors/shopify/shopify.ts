import { keepHere, takesAnswers } from '../../core/connector/answer.ts';
import { defineConnector } from '../../core/connector/contract.ts';
import { actions, actor } from './actions.ts';
import { shopifyApi } from './api.ts';
import { checker } from './check.ts';
import { events } from './events.ts';
import { forgetter } from './forget.ts';
import { poller } from './poll.ts';
import { reader } from './read.ts';
import { addressOf, settings } from './settings.ts';
import { setupOf } from './setup.ts';
import { verify } from './signature.ts';
import { writer } from './write-back.ts';

/**
 * Shopify: orders that were paid, handed over, or delivered.
 *
 * An app in the shop sends webhooks, all signed with its client secret, and lends its token. It needs the scopes in
 * `scopes.ts`; `setup` makes the webhooks and the metafields that take the answer. Compliance webhooks
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
    const api = shopifyApi(settings, ports);
    return {
      batchSize: 100,
      taken: { status: 200 },
      verify: (delivery) => verify(delivery, settings.webhookSecrets, settings.shop),
      events: (delivery) => events(delivery, settings),
      read: reader(settings, api, ports),
      writeBack: takesAnswers(settings.writeBack) ? writer(settings, api) : keepHere,
      forget: forgetter(settings, api),
      ...actor(settings, api),
      poll: poller(settings, api, ports),
      check: checker(settings, api),
      setup: setupOf(settings, api),
      recordNoun: 'order',
      recordUrl: (id) => `${addressOf(settings)}/admin/orders/${encodeURIComponent(id)}`,
      writesNoAnswer: settings.writeBack.noAnswer,
      surveyQuestions: Object.keys(settings.writeBack.answers),
    };
  },
});
