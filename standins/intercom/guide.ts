import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';

const secret = 'intercom-client-secret';
const contact = '6a1f0c3e9d2b4a7f00000071';

export const guide: Guide = {
  about: 'An Intercom workspace, with two teammates and without conversations.',
  configuration: (url) => `sources:
  inbox:
    connector: intercom
    workspace: k7p2m4xq
    region: us
    accessToken: intercom-token
    adminId: "7700001"
    webhookSecrets: [${secret}]
    webhookUrl: ${hooks}/inbox
    baseUrl: ${url}
    rules: [{ name: everybody, campaign: 12, contact: contact.email }]
    writeBack: { grade: Feedback grade, comment: Feedback comment }      # closeloop setup makes them`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'PUT', path: 'webhook', body: { url: `${hooks}/inbox`, secret } },
    { what: 'a customer', method: 'POST', path: 'contacts', body: { id: contact, email: sampleEmail } },
    { what: 'writes', method: 'POST', path: 'conversations', body: { id: 41960, contacts: [contact] } },
    { what: 'a teammate closes it', method: 'POST', path: 'conversations/41960/close' },
    { what: 'look at it', method: 'GET', path: 'conversations/41960' },
  ],
};
