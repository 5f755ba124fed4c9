import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { answerSecret } from './standin.ts';

const secret = `whsec_${Buffer.alloc(32, 'jobboard events').toString('base64')}`;

export const guide: Guide = {
  about: 'A job board that no connector was written for: it sends signed webhooks, and takes answers at /answers.',
  configuration: (url) => `sources:
  jobs:
    connector: webhook
    signature: { kind: standard, secrets: [${secret}] }
    event:
      record: data.job.id
      closed: type = "job.done"
      changed: type = "job.reopened"
      closedAt: data.job.doneAt
      shape: data
    rules: [{ name: everybody, campaign: 12, contact: customer.email }]
    writeBack: { url: "${url}/answers", secrets: [${answerSecret}], allowPrivate: true }`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'PUT', path: 'hook', body: { url: `${hooks}/jobs`, secret } },
    { what: 'a job', method: 'POST', path: 'jobs', body: { id: 41960, customer: { email: sampleEmail } } },
    { what: 'finish it', method: 'POST', path: 'jobs/41960/finish' },
    { what: 'look at it', method: 'GET', path: 'jobs/41960' },
  ],
};
