import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';

const secret = 'freshdesk-webhook-secret-of-32-letters';

export const guide: Guide = {
  about: 'A Freshdesk account with two agents, without tickets.',
  configuration: (url) => `sources:
  helpdesk:
    connector: freshdesk
    subdomain: acme
    baseUrl: ${url}
    apiKey: freshdesk-key
    setupKey: freshdesk-admin-key
    webhookSecrets: [${secret}]
    rules: [{ name: everybody, campaign: 12, contact: requester.email }]
    writeBack: { grade: cf_feedback_grade, comment: cf_feedback_comment }      # closeloop setup creates both`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'POST', path: 'webhook', body: { url: `${hooks}/helpdesk`, secret } },
    { what: 'a customer', method: 'POST', path: 'contacts', body: { id: 501, name: 'Carl', email: sampleEmail } },
    { what: 'a ticket', method: 'POST', path: 'tickets', body: { id: 41960, requesterId: 501 } },
    { what: 'resolve it', method: 'POST', path: 'tickets/41960/resolve' },
    { what: 'look at it', method: 'GET', path: 'tickets/41960' },
  ],
};
