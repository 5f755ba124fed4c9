import { expect, test } from 'vitest';
import type { OperationsForm } from '../../../../standins/feedback/operations-form.ts';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

/** A service whose five operations have nothing in common with the assumed form, in the stand-in's words … */
const form: OperationsForm = {
  create: {
    method: 'PUT',
    path: '/outbox/new',
    constants: { 'data.kind': 'invitation' },
    body: {
      campaign: 'data.project',
      phone: 'data.to.mobile',
      email: 'data.to.mail',
      identifier: 'data.to.reference',
      scheduled: 'data.sendAt',
      customFields: 'data.extra',
      fieldsAs: { name: 'key', value: 'val' },
    },
  },
  get: { method: 'POST', path: '/outbox/find', id: { in: 'body', at: 'number' } },
  grade: { method: 'PATCH', path: '/outbox/:id', grade: 'score.points' },
  comment: { method: 'PUT', path: '/outbox/:id/words', comment: 'words.text' },
  cancel: { method: 'DELETE', path: '/outbox/:id' },
  record: {
    id: 'number',
    campaign: 'project',
    phone: 'to.mobile',
    email: 'to.mail',
    identifier: 'to.reference',
    scheduled: 'sendAt',
    status: 'stage',
    grade: 'score.points',
    comment: 'score.words',
    customFields: 'extra',
    fieldsAs: { name: 'key', value: 'val' },
    envelope: 'data.invitation',
  },
};

/** … and in the configuration's. */
const operations = {
  create: {
    method: 'PUT',
    path: '/outbox/new',
    constants: { 'data.kind': 'invitation' },
    body: {
      campaign: 'data.project',
      phone: 'data.to.mobile',
      email: 'data.to.mail',
      identifier: 'data.to.reference',
      scheduled: 'data.sendAt',
      customFields: 'data.extra',
    },
    record: 'data.invitation',
  },
  get: { method: 'POST', path: '/outbox/find', body: { id: 'number' }, record: 'data.invitation' },
  grade: { method: 'PATCH', path: '/outbox/:id', body: { grade: 'score.points' } },
  comment: { method: 'PUT', path: '/outbox/:id/words', body: { comment: 'words.text' } },
  cancel: { method: 'DELETE', path: '/outbox/:id' },
  customFields: { layout: 'array', name: 'key', value: 'val' },
  record: {
    id: 'number',
    campaign: 'project',
    phone: 'to.mobile',
    email: 'to.mail',
    identifier: 'to.reference',
    scheduled: 'sendAt',
    status: 'stage',
    grade: 'score.points',
    comment: 'score.words',
    customFields: 'extra',
  },
};

test('it runs the whole loop against a service with a wholly different form for all five operations', async () => {
  const feedback = await startFeedbackStandin({ seed: true, form });
  const { standin } = feedback;
  standin.addCampaign({
    account: 'acme',
    id: 41,
    customFields: [{ name: 'Store', required: true }, { name: 'closeloop' }],
  });
  const rule = '{ name: all, campaign: 41, contact: customer.email, fields: { Store: ticket.store } }';
  const loop = await startLoop(redis, { source: 'other-form', rule, feedback, operations });
  // Also the way back from a lost answer goes over the other form: the request is found by its field.
  standin.faults.add({ method: 'PUT', path: '/api/outbox/new$', then: 'work-then-cut' });
  await loop.post(loop.vendor.close('o').delivery);
  await loop.journey('o.1', 'asked');
  expect(standin.requests({ campaign: 41 })).toMatchObject([
    { customFields: { Store: 'Tallinn', closeloop: 'other-form/o.1' } },
  ]);
  standin.answer({ contact: 'o@example.com', grade: 5, comment: 'Fine' });
  await loop.journey('o.1', 'written');
  expect(loop.vendor.written).toMatchObject([{ recordId: 'o', grade: 5, comment: 'Fine' }]);
  standin.answer({ contact: 'o@example.com', grade: 1 });
  await until(() => loop.vendor.written.length === 2);
  await loop.close();
  await feedback.close();
});
