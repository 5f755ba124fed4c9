import { type Onboarding, questionsOfPlaces } from '../../core/connector/onboarding.ts';

const clients = 'Admin Center > Apps and integrations > OAuth clients, kind Confidential';
const whenLost =
  'not known yet, or lost: set it to any text and run "closeloop setup" again, which reads the secret of the webhook and writes it into the .env file beside the configuration';
const webhook = { ask: 'Signing secret of the webhook', isList: true, isMadeUp: true, whenLost };

export const onboarding: Onboarding = {
  about: 'Zendesk Support: tickets that are solved',
  source: 'support',
  questions: [
    { setting: 'subdomain', ask: 'Subdomain (the "acme" of acme.zendesk.com)' },
    { setting: 'clientId', ask: `Identifier of the OAuth client (${clients})` },
    { setting: 'clientSecret', ask: 'Its secret', variable: 'ZENDESK_CLIENT_SECRET' },
    { setting: 'webhookSecrets', variable: 'ZENDESK_WEBHOOK_SECRET', ...webhook },
    ...questionsOfPlaces('Ticket field', 'Feedback grade', 'Feedback comment'),
  ],
  settings: { writeBack: { note: true } },
  contact: ['requester.phone', 'requester.email'],
  values: [
    { name: 'number of the ticket', expression: 'ticket.id' },
    { name: 'name of the agent', expression: 'assignee.name' },
    { name: 'name of the group', expression: 'ticket.group.name' },
    { name: 'name of the brand', expression: 'ticket.brand.name' },
    { name: 'name of the organization', expression: 'ticket.organization.name' },
    { name: 'channel', expression: 'ticket.channel' },
  ],
};
