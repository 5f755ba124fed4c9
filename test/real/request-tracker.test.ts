import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { until } from '../support/loop.ts';
import { startReceiver } from './systems/receiver.ts';
import { startRequestTracker } from './systems/request-tracker.ts';
import { useSystem } from './systems/use-system.ts';

const receiver = startReceiver();
const system = useSystem(async () => startRequestTracker({ hook: await receiver.url() }));

test('a ticket is resolved, reopened, merged and deleted, and each change of status is told, signed', async () => {
  const { person, hookSecret } = system.running;
  const id = await person.addTicket({ subject: 'Printer 😀 broken', customer: 'zoe@example.net' });
  const other = await person.addTicket({ subject: 'The same again', customer: 'zoe@example.net' });
  await person.edit(id, { CustomFields: { 'Feedback grade': '9' } });
  await person.comment(id, 'Seen.');
  await person.resolve(id);
  await person.reopen(id);
  await person.merge(other, id);
  expect(await person.read(other)).toMatchObject({
    id,
    subject: 'Printer 😀 broken',
    status: 'open',
    customers: ['zoe@example.net'],
    fields: { 'Feedback grade': ['9'], 'Feedback comment': [] },
  });
  expect(await person.comments(id)).toEqual([{ by: 'root', subject: '', content: 'Seen.' }]);
  await person.remove(id);
  const changes = (await person.transactions(id)).filter(({ type }) => type === 'Status');
  expect(changes.map(({ to }) => to)).toEqual(['resolved', 'open', 'deleted']);

  await until(() => receiver.told.length === changes.length);
  expect(receiver.told.map(({ body }) => JSON.parse(body))).toMatchObject(
    changes.map(({ id: transaction, to }) => ({ ticket: Number(id), transaction: Number(transaction), to })),
  );
  for (const { body, headers } of receiver.told) {
    const signed = createHmac('sha256', hookSecret).update(`${headers['x-rt-timestamp']}.${body}`).digest('hex');
    expect(headers['x-rt-signature']).toBe(signed);
  }
});
