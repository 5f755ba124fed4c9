import { type Onboarding, questionsOfPlaces } from '../../core/connector/onboarding.ts';

export const onboarding: Onboarding = {
  about: 'HubSpot: tickets that are closed',
  source: 'tickets',
  questions: [
    { setting: 'accessToken', ask: 'Access token of the app (pat-…)', variable: 'HUBSPOT_ACCESS_TOKEN' },
    {
      setting: 'webhookSecrets',
      ask: "The app's client secret, which signs its webhooks",
      variable: 'HUBSPOT_CLIENT_SECRET',
      isList: true,
    },
    { setting: 'portalId', ask: 'Hub ID of the account', initial: '' },
    ...questionsOfPlaces('Property', 'feedback_grade', 'feedback_comment'),
  ],
  settings: { writeBack: { note: true } },
  contact: ['contact.mobilePhone', 'contact.phone', 'contact.email'],
  values: [
    { name: 'name of the owner', expression: 'owner.name' },
    { name: 'priority of the ticket', expression: 'ticket.priority' },
  ],
};
