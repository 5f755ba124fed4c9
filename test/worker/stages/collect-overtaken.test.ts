import { expect, test } from 'vitest';
import { seenKey } from '../../../worker/stages/collect.ts';
import { asking, useQuiet } from '../by-hand.ts';
import { until } from '../harness.ts';

const service = useQuiet();
const { redis, quiet } = service;

test('a pass that stood still takes nothing from its old page once another has begun', async () => {
  const calm = quiet();
  await asking(calm, 'a');
  service.standin.answer({ contact: 'erika@example.com', grade: 3 });
  service.standin.faults.add({ method: 'GET', path: '/appeals/$', delayMs: 300 });
  const pass = calm.engine.runJob({ source: 'collect', stage: 'collect', data: { campaign: 12 } });
  await until(() => service.standin.faults.list().length === 0);
  await redis.handle.client.set('{cl}:lock:12', 'another pass');
  await pass;
  expect(await calm.store.get('a.1')).toMatchObject({ state: 'asked' });
  // The other one says what was seen, and still holds its lock.
  expect(await redis.handle.client.mget(seenKey(12), '{cl}:lock:12')).toEqual([null, 'another pass']);
});
