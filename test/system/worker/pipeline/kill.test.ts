import { beforeEach, expect, test } from 'vitest';
import { type KillPoint, killedAt } from '../../../support/kill-points.ts';
import { until } from '../../../support/loop.ts';
import { startWorld } from '../../../support/loop-processes.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
beforeEach(() => redis.handle.client.flushall());

const create = { method: 'POST', path: '/api/appeals/$' };

test('it asks 30 customers once each, though the worker is killed three times in the middle of asking them', async () => {
  const ids = Array.from({ length: 30 }, (_, i) => `r${i}`);
  const world = await startWorld(redis, 'killed', ids);
  const { standin, store } = world;
  const intake = await world.start('intake');
  let worker = await world.start('worker');
  const requests = () => standin.requests().length;
  for (const tens of [0, 10, 20]) {
    const before = requests();
    // Killed with all kinds of creates under way: done and not answered, not done, not even begun.
    standin.faults.add({ ...create, then: 'work-then-hang', times: 3 });
    standin.faults.add({ ...create, then: 'cut', delayMs: 20, times: 2 });
    standin.faults.add({ ...create, then: 'answer', delayMs: 40, times: 5 });
    expect((await world.post(intake.url, ids.slice(tens, tens + 10))).status).toBe(202);
    await until(() => requests() >= before + 4);
    await worker.kill();
    expect((await store.queries.counts()).creating).toBeGreaterThan(0);
    standin.faults.clear();
    await world.locksEnd();
    worker = await world.start('worker');
  }
  await until(async () => (await store.queries.counts()).asked === 30);
  const asked = standin.requests().map(({ email }) => email);
  expect(asked.toSorted()).toEqual(ids.map((id) => `${id}@example.com`).sort());
  const journeys = await Promise.all(ids.map((id) => store.get(`${id}.1`)));
  expect(new Set(journeys.map((journey) => journey?.requestId)).size).toBe(30);
});

test.each<[KillPoint, number]>([
  ['event-stored', 1],
  ['intent-saved', 12],
  ['asked-saved', 12],
])(
  'closings that came together are asked about once each, though the process is killed in the middle of them: %s, time %i',
  async (point, nth) => {
    const ids = Array.from({ length: 30 }, (_, i) => `t${i}`);
    const world = await startWorld(redis, 'together', ids);
    const doomed = await world.start('all', killedAt(point, nth));
    // Killed before it answers, it has the vendor deliver again.
    const answer = await world.post(doomed.url, ids).catch(() => undefined);
    await until(() => doomed.child.signalCode !== null);
    await world.locksEnd();
    const clean = await world.start('all');
    if (answer?.status !== 202) expect((await world.post(clean.url, ids)).status).toBe(202);
    await until(async () => (await world.store.queries.counts()).asked === ids.length);
    expect(
      world.standin
        .requests()
        .map(({ email }) => email)
        .sort(),
    ).toEqual(ids.map((id) => `${id}@example.com`).sort());
  },
);
