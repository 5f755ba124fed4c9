import type { Onboarding } from '../../core/connector/onboarding.ts';

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
    {
      setting: 'webhookSecrets',
      ask: "The app's client secret (Basic Information)",
      variable: 'INTERCOM_CLIENT_SECRET',
      isList: true,
    },
    { setting: 'adminId', ask: "Id of closeloop's own teammate, who writes the answers" },
    { setting: 'writeBack.grade', ask: 'Attribute that takes the grade', initial: 'Feedback grade' },
    { setting: 'writeBack.comment', ask: 'Attribute that takes the comment', initial: 'Feedback comment' },
  ],
  settings: { writeBack: { note: true } },
  contact: ['contact.phone', 'contact.email'],
  values: [
    { name: 'name of the agent', expression: 'agent.name' },
    { name: 'name of the team', expression: 'team.name' },
  ],
};
