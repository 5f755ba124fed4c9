import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';

export const guide: Guide = {
  about: 'A Shopify shop, without orders.',
  configuration: (url) => `sources:
  shop:
    connector: shopify
    shop: acme.myshopify.com
    baseUrl: ${url}
    clientId: shopify-client
    clientSecret: shopify-client-secret
    webhookSecrets: [shopify-client-secret]
    trigger: fulfilled
    rules: [{ name: everybody, campaign: 12, contact: contact.email }]
    writeBack: { grade: feedback_grade, comment: feedback_comment }      # setup creates both`,
  steps: [
    {
      what: 'webhooks go to closeloop',
      method: 'POST',
      path: 'subscriptions',
      body: { topic: 'ORDERS_FULFILLED', uri: `${hooks}/shop` },
    },
    { what: 'a customer', method: 'POST', path: 'customers', body: { id: 71, firstName: 'Carl', email: sampleEmail } },
    { what: 'an order', method: 'POST', path: 'orders', body: { id: 41960, customerId: 71, email: sampleEmail } },
    { what: 'send its parcel', method: 'POST', path: 'orders/41960/fulfil' },
    { what: 'look at it', method: 'GET', path: 'orders/41960' },
  ],
};
