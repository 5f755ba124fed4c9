import { expect, test } from 'vitest';
import { seenKey } from '../../../../../worker/redis/keys.ts';
import { releaseLock, takeFencedLock } from '../../../../../worker/redis/lock.ts';
import { until } from '../../../../support/loop.ts';
import { asking, overriding, passOf, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { redis, unitContext } = service;

test('a pass that stood still takes nothing from its old page once another has begun', async () => {
  const calm = unitContext();
  await asking(calm, 'a');
  service.standin.answer({ contact: 'erika@example.com', grade: 3 });
  service.standin.faults.add({ method: 'GET', path: '/appeals/$', delayMs: 300 });
  const pass = calm.engine.collecting.stage.run({ campaign: 12 });
  await until(() => service.standin.faults.list().length === 0);
  await redis.handle.client.set('{cl}:lock:12', 'another pass');
  await pass;
  expect(await calm.store.get('a.1')).toMatchObject({ state: 'asked' });
  // The other one says what was seen, and still holds its lock.
  expect(await redis.handle.client.mget(seenKey(12), '{cl}:lock:12')).toEqual([null, 'another pass']);
});

/** A pass that stands still at `where` while another begins, ends and gives up its lock: what the journey then says. */
test.each([
  ['its page is on its way', 'requestPages'],
  ['its page has been read, and nothing saved', 'journeyIdsOf'],
])('a pass that stood still while %s takes nothing once a newer pass has finished (audit 11)', async (_where, at) => {
  const calm = unitContext();
  const { context, store } = calm;
  await asking(calm, 'a');
  service.standin.answer({ contact: 'erika@example.com', grade: 3 });
  const newerPass = async () => {
    // The lock of the pass that stands still has ended.
    await redis.handle.client.del('{cl}:lock:12');
    service.standin.answer({ contact: 'erika@example.com', grade: 5 });
    await passOf(redis.handle.client, context);
    expect(await store.get('a.1')).toMatchObject({ state: 'answered', answer: { grade: 5, version: 1 } });
  };
  await passOf(redis.handle.client, {
    ...context,
    feedback: overriding(context.feedback, {
      requestPages: async function* (filter) {
        for await (const page of context.feedback.requestPages(filter)) {
          if (at === 'requestPages') await newerPass();
          yield page;
        }
      },
    }),
    store: overriding(store, {
      requests: overriding(store.requests, {
        journeyIdsOf: async (ids) => {
          if (at === 'journeyIdsOf') await newerPass();
          return await store.requests.journeyIdsOf(ids);
        },
      }),
    }),
  });
  expect(await store.get('a.1')).toMatchObject({ state: 'answered', answer: { grade: 5, version: 1 } });
});

test('the next pass takes what the one that stood still had to leave (audit 11)', async () => {
  const calm = unitContext();
  await asking(calm, 'a');
  service.standin.answer({ contact: 'erika@example.com', grade: 3 });
  service.standin.faults.add({ method: 'GET', path: '/appeals/$', delayMs: 300 });
  const pass = calm.engine.collecting.stage.run({ campaign: 12 });
  await until(() => service.standin.faults.list().length === 0);
  await redis.handle.client.del('{cl}:lock:12');
  await pass;
  expect(await calm.store.get('a.1')).toMatchObject({ state: 'asked' });
  await calm.engine.collecting.stage.run({ campaign: 12 });
  expect(await calm.store.get('a.1')).toMatchObject({ state: 'answered', answer: { grade: 3 } });
});

test('a generation is never lower than before, though Redis lost its counter (audit 11)', async () => {
  const { client } = redis.handle;
  const generations: unknown[] = [];
  for (const token of ['one', 'two', 'three']) {
    generations.push(await takeFencedLock(client, '{cl}:lock:7', token, 60_000));
    expect(await takeFencedLock(client, '{cl}:lock:7', 'somebody else', 60_000)).toBeUndefined();
    await releaseLock(client, '{cl}:lock:7', token);
    if (token === 'two') {
      await client.del('{cl}:lock:7:generation');
      // The clock that replaces the counter counts milliseconds of whole seconds.
      await until(async () => Number((await client.time())[0]) * 1000 > Number(generations[1]));
    }
  }
  const [one, two, three] = generations.map(Number);
  expect([Number(two) > Number(one), Number(three) > Number(two)]).toEqual([true, true]);
});
