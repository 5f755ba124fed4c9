import { type Onboarding, questionsOfPlaces } from '../../core/connector/onboarding.ts';

const plugin = { ask: "Secret of the plugin (in the shop's environment)", isList: true, isMadeUp: true };
export const onboarding: Onboarding = {
  about: 'Vendure: orders that have arrived',
  source: 'shop',
  questions: [
    { setting: 'address', ask: 'Address of the Admin API (https://shop.example.com/admin-api)' },
    { setting: 'username', ask: 'Administrator made for closeloop (e-mail address)' },
    { setting: 'password', ask: 'Password of that administrator', variable: 'VENDURE_PASSWORD' },
    { setting: 'webhookSecrets', variable: 'VENDURE_WEBHOOK_SECRET', ...plugin },
    ...questionsOfPlaces('Custom field', 'feedbackGrade', 'feedbackComment'),
  ],
  settings: { writeBack: { answeredAt: 'feedbackAt', note: true } },
  contact: ['customer.email', 'customer.phone'],
  values: [{ name: 'code of the order', expression: 'order.code' }],
};
