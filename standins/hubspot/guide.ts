import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';

export const guide: Guide = {
  about: 'A HubSpot account with its two usual pipelines, and no records.',
  configuration: (url) => `sources:
  crm:
    connector: hubspot
    baseUrl: ${url}
    accessToken: hubspot-token
    webhookSecrets: [hubspot-client-secret]
    rules: [{ name: everybody, campaign: 12, contact: contact.email }]
    writeBack: { grade: feedback_grade, comment: feedback_comment }      # setup creates both`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'PUT', path: 'webhook', body: { url: `${hooks}/crm` } },
    {
      what: 'a customer',
      method: 'POST',
      path: 'contacts',
      body: { id: 71, properties: { firstname: 'Carl', email: sampleEmail } },
    },
    {
      what: 'a ticket',
      method: 'POST',
      path: 'tickets',
      body: { id: 41960, contacts: [71], properties: { subject: 'Router', hs_pipeline: '0', hs_pipeline_stage: '1' } },
    },
    { what: 'close it', method: 'POST', path: 'tickets/41960/close' },
    { what: 'look at it', method: 'GET', path: 'tickets/41960' },
  ],
};
