import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';

const secret = 'woocommerce-webhook-secret';

export const guide: Guide = {
  about: 'A WooCommerce shop, without orders.',
  configuration: (url) => `http: { publicUrl: "http://127.0.0.1:8080" }
sources:
  store:
    connector: woocommerce
    site: ${url}
    consumerKey: ck_standin
    consumerSecret: cs_standin
    webhookSecrets: [${secret}]
    rules: [{ name: everybody, campaign: 12, contact: customer.email }]
    writeBack: { grade: feedback_grade, comment: feedback_comment }      # needs no preparation`,
  steps: [
    {
      what: 'webhooks go to closeloop',
      method: 'POST',
      path: 'webhooks',
      body: { topic: 'order.updated', url: `${hooks}/store`, secret },
    },
    { what: 'an order', method: 'POST', path: 'orders', body: { id: 41960, billing: { email: sampleEmail } } },
    { what: 'complete it', method: 'POST', path: 'orders/41960/complete' },
    { what: 'look at it', method: 'GET', path: 'orders/41960' },
  ],
};
