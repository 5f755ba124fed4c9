import { type Onboarding, questionsOfPlaces } from '../../core/connector/onboarding.ts';

const webhooks = { ask: 'A secret for the webhooks, which setup writes into the rules', isList: true, isMadeUp: true };

export const onboarding: Onboarding = {
  about: 'Freshdesk: tickets that are resolved or closed',
  source: 'desk',
  questions: [
    { setting: 'subdomain', ask: 'First part of the address ("acme" of acme.freshdesk.com)' },
    {
      setting: 'apiKey',
      ask: "API key of closeloop's own agent (Profile settings > View API key)",
      variable: 'FRESHDESK_API_KEY',
    },
    { setting: 'webhookSecrets', variable: 'FRESHDESK_WEBHOOK_SECRET', ...webhooks },
    ...questionsOfPlaces('Name of the ticket field', 'cf_feedback_grade', 'cf_feedback_comment'),
  ],
  settings: { writeBack: { note: true } },
  contact: ['requester.mobile', 'requester.phone', 'requester.email'],
  values: [
    { name: 'name of the agent', expression: 'agent.name' },
    { name: 'name of the group', expression: 'group.name' },
  ],
};
