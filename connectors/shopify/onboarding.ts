import { type Onboarding, questionsOfPlaces } from '../../core/connector/onboarding.ts';

export const onboarding: Onboarding = {
  about: 'Shopify: orders that have arrived',
  source: 'shop',
  questions: [
    { setting: 'shop', ask: 'Permanent address of the shop (acme.myshopify.com)' },
    { setting: 'clientId', ask: 'Client id of the app (Dev Dashboard > app > Settings)' },
    { setting: 'clientSecret', ask: 'Its secret', variable: 'SHOPIFY_CLIENT_SECRET' },
    { setting: 'webhookSecrets', ask: 'Its secret', variable: 'SHOPIFY_CLIENT_SECRET', isList: true },
    { setting: 'trigger', ask: 'An order counts when it is: paid, fulfilled or delivered', initial: 'delivered' },
    ...questionsOfPlaces('Metafield', 'feedback_grade', 'feedback_comment'),
  ],
  contact: ['contact.email', 'contact.phones'],
  values: [
    { name: 'number of the order', expression: 'order.name' },
    { name: 'number of products', expression: '$count(order.items)' },
    { name: 'branch that sold it', expression: 'order.branch.name' },
    { name: 'branch that shipped it', expression: 'order.shippedFrom.name' },
    { name: 'city', expression: 'order.city' },
  ],
};
