import { beforeEach, expect, test } from 'vitest';
import { type KillPoint, killedAt } from '../../../support/kill-points.ts';
import { until } from '../../../support/loop.ts';
import { startWorld } from '../../../support/loop-processes.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
beforeEach(() => redis.handle.client.flushall());

test.each<[KillPoint, number]>([
  ['event-stored', 1],
  ['intent-saved', 12],
  ['asked-saved', 12],
])(
  'closings that came together are asked about once each, though the process is killed: %s, time %i',
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
    await until(async () => (await world.store.lists.counts()).asked === ids.length);
    expect(
      world.standin
        .requests()
        .map(({ email }) => email)
        .sort(),
    ).toEqual(ids.map((id) => `${id}@example.com`).sort());
  },
);
