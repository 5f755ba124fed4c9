import type { Onboarding } from '../../core/connector/onboarding.ts';

export const onboarding: Onboarding = {
  about: 'any system that can send a signed webhook',
  source: 'events',
  questions: [
    {
      setting: 'signature.secrets',
      ask: 'Secret that signs its webhooks (Standard Webhooks: whsec_…)',
      variable: 'WEBHOOK_SECRET',
      isList: true,
    },
    { setting: 'event.record', ask: 'JSONata over the body: id of the record, like data.job.id' },
    { setting: 'event.closed', ask: 'JSONata over the body: true when the record is closed, like type = "job.done"' },
    { setting: 'event.shape', ask: 'JSONata over the body: what rules see', initial: '$' },
  ],
  settings: { signature: { kind: 'standard' } },
  contact: ['data.customer.phone', 'data.customer.email'],
  values: [],
};
