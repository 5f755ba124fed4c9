import { type Onboarding, questionsOfPlaces } from '../../core/connector/onboarding.ts';

const whenLost = "lost: it stands as $CloseloopKey in the server's RT_SiteConfig.d";
const key = { ask: 'Key with which the scrip signs', variable: 'RT_SCRIP_KEY', isList: true, isMadeUp: true, whenLost };

export const onboarding: Onboarding = {
  about: 'Request Tracker: tickets that are resolved',
  source: 'rt',
  questions: [
    { setting: 'address', ask: 'Its address (https://rt.example.com, with a path where it has one)' },
    { setting: 'token', ask: "Token of closeloop's own user, 1-27-… (Settings > Auth Tokens)", variable: 'RT_TOKEN' },
    { setting: 'webhookSecrets', ...key },
    ...questionsOfPlaces('Custom field', 'Feedback grade', 'Feedback comment'),
  ],
  settings: { writeBack: { note: true } },
  contact: ['requestor.email'],
  values: [
    { name: 'name of the agent', expression: 'owner.name' },
    { name: 'name of the queue', expression: 'ticket.queue.name' },
  ],
};
