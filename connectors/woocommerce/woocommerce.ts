import { keepHere, takesAnswers } from '../../core/connector/answer.ts';
import { defineConnector } from '../../core/connector/contract.ts';
import { numbered } from '../../core/connector/record-name.ts';
import { verifyHmac } from '../../core/connector/signature.ts';
import { openShop } from './api.ts';
import { checker } from './check.ts';
import { events } from './events.ts';
import { forgetter } from './forget.ts';
import { isOrderId } from './order.ts';
import { poller } from './poll.ts';
import { batchSize, reader } from './read.ts';
import { settings } from './settings.ts';
import { installer } from './setup.ts';
import { ping, signature } from './signature.ts';
import { writer } from './write-back.ts';

/**
 * WooCommerce: completed orders.
 *
 * Webhooks of the shop tell of orders; a REST key with read and write rights reads them and writes answers into their meta
 * data. The shop delivers each webhook once, late, and gives a webhook up after failures: a delivery is refused for nothing
 * but a bad signature, and the poll is part of the connector, not an extra.
 */
export const woocommerce = defineConnector({
  name: 'woocommerce',
  settings,
  account: ({ site }) => site.replace(/^https?:\/\//, ''),
  ownDomains: ({ site }) => [new URL(site).hostname.replace(/^www\./, '')],
  parts: {
    channels: ['order.createdVia'],
    openedAt: ['order.createdAt'],
    customer: ['customer.email', 'customer.phone', 'shipping.phone'],
  },
  open: (settings, ports) => {
    const shop = openShop(settings, ports);
    return {
      batchSize,
      taken: { status: 200 },
      alsoTakes: ['form'],
      handshake: ping,
      recordNames: numbered(isOrderId),
      recordUrl: (id) => `${settings.site}/wp-admin/post.php?post=${encodeURIComponent(id)}&action=edit`,
      writesNoAnswer: settings.writeBack.noAnswer,
      surveyQuestions: Object.keys(settings.writeBack.answers),
      verify: (delivery) => verifyHmac(delivery, settings.webhookSecrets, signature),
      events: (delivery) => events(delivery, settings),
      read: reader(settings, shop),
      writeBack: takesAnswers(settings.writeBack) ? writer(settings, shop) : keepHere,
      forget: forgetter(settings, shop),
      poll: poller(settings, shop, ports),
      check: checker(settings, shop, ports),
      setup: installer(settings, shop),
    };
  },
});
