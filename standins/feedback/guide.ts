import { type Guide, sampleEmail } from '../kit/guide.ts';

export const guide: Guide = {
  about:
    'The Feedback Collection Service. Campaign 12 asks by e-mail and SMS, at once and at any hour; there are others.',
  configuration: (url) => `feedback:
  baseUrl: ${url}/api
  apiKey: demo-key
  timeZone: Europe/Tallinn
collect: { every: 5s }              # so that a grade comes back at once`,
  steps: [
    { what: 'all requests', method: 'GET', path: 'requests' },
    {
      what: 'the customer answers the newest request',
      method: 'POST',
      path: 'answers',
      body: { contact: sampleEmail, grade: 5, comment: 'Quick, thanks' },
    },
  ],
};
