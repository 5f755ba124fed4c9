import { expect, test } from 'vitest';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

const good = '{ name: good, when: ticket.store = "Tallinn", campaign: 12, contact: customer.email }';
const poisonous =
  '{ name: poisonous, when: "($f := function($s) { $length($s) = 7 ? true : $f($s) }; $f(ticket.store))", campaign: 12, contact: customer.email }';

test('a rule whose expression runs away holds up its own journeys only, and nobody who asks for health (audit 26)', async () => {
  const loop = await startLoop(redis, {
    source: 'poisoned',
    rule: `${good}\n      - ${poisonous}`,
    general: 'alerts: { url: "http://127.0.0.1:9/", secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLhSN] }',
  });
  const bad = loop.vendor.close('bad', { store: 'Tartu' });
  let healthy = 0;
  const stopped = until(async () => {
    const answer = await fetch(`${loop.app.url}/healthz`);
    if (answer.ok) healthy += 1;
    return loop.told.find(({ message }) => message.startsWith('an expression was stopped'));
  });
  await loop.post(bad.delivery);

  const numbers = Array.from({ length: 200 }, (_, i) => `good-${i}`);
  await loop.closeAll(numbers);

  const waits = await stopped;
  // While it stood still there would have been one.
  expect(healthy).toBeGreaterThan(5);
  expect(waits.fields.why).toMatch(/of rule "poisonous" was stopped, as it ran for too long/);

  await until(async () => loop.feedback.standin.requests().length === numbers.length);
  await until(async () => (await loop.store.trace('bad.1')).some(({ text }) => /waits: The expression/.test(text)));
  expect((await loop.store.get('bad.1'))?.state).toBe('received');
  await loop.close();
});
