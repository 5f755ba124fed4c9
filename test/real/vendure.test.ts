import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { until } from '../support/loop.ts';
import { startReceiver } from './systems/receiver.ts';
import { useSystem } from './systems/use-system.ts';
import { startVendure } from './systems/vendure.ts';

const receiver = startReceiver();
const system = useSystem(async () => startVendure({ hook: await receiver.url() }));

test('an order is placed, delivered and cancelled, and each of its states is told, signed', async () => {
  const { person, hookSecret } = system.running;
  const id = await person.placeOrder({ email: 'zoe@example.net', customer: { language: 'de' } });
  await person.deliver(id);
  await person.setFields(id, { feedbackGrade: 9 });
  await person.addNote(id, 'Seen.');
  await person.cancel(id);
  expect(await person.read(id)).toMatchObject({ state: 'Cancelled', customFields: { feedbackGrade: 9 } });
  expect(await person.notes(id)).toEqual([{ text: 'Seen.', isPublic: false }]);
  const states = (await person.transitions(id)).map(({ to }) => to);
  expect(states).toEqual(['Draft', 'ArrangingPayment', 'PaymentSettled', 'Shipped', 'Delivered', 'Cancelled']);

  await until(() => receiver.told.length === states.length);
  expect(receiver.told.map(({ body }) => JSON.parse(body))).toMatchObject(states.map((to) => ({ orderId: id, to })));
  for (const { body, headers } of receiver.told) {
    const signed = createHmac('sha256', hookSecret).update(`${headers['x-vendure-timestamp']}.${body}`).digest('hex');
    expect(headers['x-vendure-signature']).toBe(signed);
  }
});
