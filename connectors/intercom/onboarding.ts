import { type Onboarding, questionsOfPlaces } from '../../core/connector/onboarding.ts';

const clientSecret = { ask: "The app's client secret (Basic Information)", isList: true };

export const onboarding: Onboarding = {
  about: 'Intercom: conversations that are closed, tickets that are resolved',
  source: 'inbox',
  questions: [
    { setting: 'workspace', ask: 'Id of the workspace (in the address of its Inbox)' },
    { setting: 'region', ask: 'Region of the workspace: us, eu or au', initial: 'us' },
    {
      setting: 'accessToken',
      ask: 'Access token of the private app (Developer Hub > your app > Authentication)',
      variable: 'INTERCOM_ACCESS_TOKEN',
    },
    { setting: 'webhookSecrets', variable: 'INTERCOM_CLIENT_SECRET', ...clientSecret },
    { setting: 'adminId', ask: "Id of closeloop's own teammate, who writes the answers" },
    ...questionsOfPlaces('Attribute', 'Feedback grade', 'Feedback comment'),
  ],
  settings: { writeBack: { note: true } },
  contact: ['contact.phone', 'contact.email'],
  values: [
    { name: 'name of the agent', expression: 'agent.name' },
    { name: 'name of the team', expression: 'team.name' },
  ],
};
