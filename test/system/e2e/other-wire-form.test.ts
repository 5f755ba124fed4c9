import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import type { OperationsForm } from '../../../standins/feedback/operations-form.ts';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { commandHere } from '../../support/command-here.ts';
import { useFolder } from '../../support/folder.ts';
import { startLoop, until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';

/** The example of another wire form, against a stand-in that serves that form and no other. */
const example = readFileSync(
  resolve(import.meta.dirname, '../../../examples/configurations/other-wire-form.yaml'),
  'utf8',
);
const fieldsAs = { name: 'key', value: 'content.raw' };
const form: OperationsForm = {
  create: {
    method: 'PUT',
    path: '/campaigns/:campaign/invitations',
    constants: { 'data.type': 'invitation' },
    body: {
      campaign: 'campaign',
      phone: 'data.attributes.to.sms',
      email: 'data.attributes.to.mail',
      identifier: 'data.attributes.to.ref',
      scheduled: 'data.attributes.send_at',
      customFields: 'data.attributes.values',
      fieldsAs,
    },
  },
  get: { method: 'POST', path: '/invitations/find', id: { in: 'body', at: 'data.id' } },
  grade: { method: 'PATCH', path: '/invitations/:id', grade: 'data.attributes.score' },
  comment: { method: 'PUT', path: '/invitation-notes', id: { in: 'query', at: 'invitation' }, comment: 'note.text' },
  cancel: { method: 'DELETE', path: '/invitations/:id' },
  record: {
    id: 'id',
    campaign: 'attributes.campaign.number',
    phone: 'attributes.to.sms',
    email: 'attributes.to.mail',
    identifier: 'attributes.to.ref',
    scheduled: 'attributes.send_at',
    status: 'attributes.state',
    grade: 'attributes.score',
    comment: 'attributes.note',
    customFields: 'attributes.values',
    fieldsAs,
    envelope: 'data',
  },
};

const redis = useRedis();
let service: Awaited<ReturnType<typeof startFeedbackStandin>>;
const dir = useFolder();
beforeAll(async () => {
  service = await startFeedbackStandin({ seed: true, form });
});
afterAll(async () => {
  await service?.close();
});

test('the example works with all five operations and the list, by hand (audit 37)', async () => {
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(config, example.replace('https://feedback.example.com/api', `${service.url}/api`));
  const env = { FEEDBACK_API_KEY: 'demo-key', JOBS_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
  const ok = async (...args: string[]): Promise<unknown> => {
    const { code, out, err } = await commandHere([...args, '--config', config, '--json'], env);
    expect([args.join(' '), code, err]).toEqual([args.join(' '), 0, '']);
    return JSON.parse(out.trim());
  };
  const Made = z.looseObject({ id: z.string() });
  const own = Made.parse(await ok('requests', 'create', '--campaign', '15', '--contact', 'desk-7'));
  await ok('requests', 'grade', own.id, '4');
  await ok('requests', 'comment', own.id, 'Quick');
  const answered = { id: own.id, campaign: 15, identifier: 'desk-7', grade: 4, comment: 'Quick' };
  expect(await ok('requests', 'get', own.id)).toMatchObject(answered);
  expect(await ok('requests', 'list', '--campaign', '15')).toMatchObject(answered);
  const more = ['--scheduled', '2099-01-01T10:00', '--fields', '{"Store":"Tartu"}'];
  const later = Made.parse(await ok('requests', 'create', '--campaign', '12', '--contact', 'a@example.com', ...more));
  expect(later).toMatchObject({
    scheduled: '2099-01-01T08:00:00.000Z',
    status: 'Scheduled',
    customFields: { Store: 'Tartu' },
  });
  await ok('requests', 'cancel', later.id);
  expect(await ok('requests', 'get', later.id)).toMatchObject({ status: 'Cancelled' });
});

test('the example asks, collects the grade and writes it back (audit 37)', async () => {
  const { feedback } = z.object({ feedback: z.object({ operations: z.looseObject({}) }) }).parse(parse(example));
  const loop = await startLoop(redis, { source: 'other-form', feedback: service, operations: feedback.operations });
  // The way back from a lost answer goes over the other form, too.
  service.standin.faults.add({ method: 'PUT', path: '/invitations$', then: 'work-then-cut' });
  const { requestId } = await loop.asked('t', { customer: { email: 'carl@example.com' }, store: 'Tartu' });
  const request = await until(() => service.standin.requests().find(({ id }) => String(id) === requestId));
  expect(request).toMatchObject({ campaign: 12, email: 'carl@example.com', customFields: { Store: 'Tartu' } });
  service.standin.answer({ request: request.id, grade: 2, comment: 'Slow' });
  await loop.journey('t.1', 'written');
  expect(loop.vendor.written).toMatchObject([{ recordId: 't', grade: 2, comment: 'Slow' }]);
});
