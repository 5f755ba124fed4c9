import { expect, test } from 'vitest';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

test('it says that a job lost its lock, and nothing of Redis, which is there (audit 43)', async () => {
  const source = 'lost-lock';
  const loop = await startLoop(redis, { source });
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let writes = 0;
  loop.vendor.beforeWriteBack = async () => {
    writes++;
    if (writes === 1) await held;
  };
  await loop.post(loop.vendor.close('a').delivery);
  await loop.journey('a.1', 'asked');
  for (const { id } of loop.feedback.standin.requests()) loop.feedback.standin.answer({ request: id, grade: 4 });
  await until(() => writes > 0);
  const { client } = redis.handle;
  const locks = await client.keys(`{cl:${source}}:write-back:*:lock`);
  expect(locks).toHaveLength(1);
  // As if this process had stood still for longer than the lock lasts.
  for (const lock of locks) await client.set(lock, 'another worker', 'PX', 2_000);
  release();
  await loop.journey('a.1', 'written');
  const warned = await until(() => {
    const found = loop.told.filter(({ message }) => /lost its lock/.test(message));
    return found.length > 0 && found;
  });
  expect(warned[0]).toMatchObject({ level: 'warn', message: expect.stringMatching(/another worker/) });
  expect(loop.told.filter(({ message }) => /Redis (?:is away|takes writes again)/.test(message))).toEqual([]);
  await loop.close();
});
