import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';

export const guide: Guide = {
  about: 'A Zendesk account, empty.',
  configuration: (url) => `sources:
  support:
    connector: zendesk
    subdomain: acme
    baseUrl: ${url}
    clientId: closeloop
    clientSecret: zendesk-client-secret
    webhookSecrets: [zendesk-webhook-secret]
    rules: [{ name: everybody, campaign: 12, contact: requester.email }]
    writeBack: { grade: Feedback grade, comment: Feedback comment }      # setup creates both`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'PUT', path: 'webhook', body: { url: `${hooks}/support` } },
    { what: 'a customer', method: 'POST', path: 'users', body: { id: 71, name: 'Carl', email: sampleEmail } },
    { what: 'a ticket', method: 'POST', path: 'tickets', body: { id: 41960, requesterId: 71 } },
    { what: 'solve it', method: 'POST', path: 'tickets/41960/solve' },
    { what: 'look at it', method: 'GET', path: 'tickets/41960' },
  ],
};
