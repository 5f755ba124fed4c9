import { expect, test } from 'vitest';
import { until } from '../../../support/loop.ts';
import { startWorld } from '../../../support/loop-processes.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

test('two workers and two intakes share 60 closings: each is asked once and written once', async () => {
  const ids = Array.from({ length: 60 }, (_, i) => `r${i}`);
  const world = await startWorld(redis, 'shared', ids);
  const { standin, store } = world;
  const [one, other] = await Promise.all([
    world.start('intake'),
    world.start('intake'),
    world.start('worker'),
    world.start('worker'),
  ]);
  // Every closing is told of three times: the same webhook at both intakes, and another one.
  const answers = await Promise.all(
    [0, 20, 40].flatMap((from) => {
      const some = ids.slice(from, from + 20);
      return [world.post(one.url, some), world.post(other.url, some), world.post(other.url, some, ' again')];
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  await until(async () => (await store.queries.counts()).asked === 60);
  const emails = ids.map((id) => `${id}@example.com`).sort();
  expect(
    standin
      .requests()
      .map(({ email }) => email)
      .toSorted(),
  ).toEqual(emails);

  for (const email of emails) standin.answer({ contact: email, grade: 5 });
  await until(async () => (await store.queries.counts()).written === 60);
  // What they say of it comes by another way, and may come later.
  await until(() => world.wrote.length >= 60);
  expect(world.wrote.toSorted()).toEqual([...ids].sort());
  expect(await store.queries.counts()).toMatchObject({ received: 0, waiting: 0, creating: 0, skipped: 0, asked: 0 });
  expect(standin.requests()).toHaveLength(60);
});
