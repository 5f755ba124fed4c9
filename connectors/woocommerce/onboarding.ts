import { type Onboarding, questionsOfPlaces } from '../../core/connector/onboarding.ts';

export const onboarding: Onboarding = {
  about: 'WooCommerce: orders that are completed',
  source: 'shop',
  questions: [
    { setting: 'site', ask: 'Address of the shop (https://shop.example.com)' },
    {
      setting: 'consumerKey',
      ask: 'REST key with the rights Read/Write, ck_… (WooCommerce > Settings > Advanced > REST API)',
      variable: 'WOO_CONSUMER_KEY',
    },
    { setting: 'consumerSecret', ask: 'Its secret, cs_…', variable: 'WOO_CONSUMER_SECRET' },
    {
      setting: 'webhookSecrets',
      ask: 'Secret of the webhooks',
      variable: 'WOO_WEBHOOK_SECRET',
      isList: true,
      isMadeUp: true,
      whenLost:
        'lost: delete the webhooks "closeloop …" (WooCommerce > Settings > Advanced > Webhooks), set it to a new secret (openssl rand -base64 32) and run "closeloop setup" again',
    },
    ...questionsOfPlaces('Meta data', 'feedback_grade', 'feedback_comment'),
  ],
  settings: { writeBack: { note: true } },
  contact: ['customer.phone', 'customer.email'],
  values: [
    { name: 'number of the order', expression: 'order.number' },
    { name: 'total', expression: 'order.total' },
    { name: 'way of payment', expression: 'order.paymentMethodTitle' },
    { name: 'city', expression: 'shipping.city' },
  ],
};
