import { setTimeout as realSleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PointsWanted } from '../../../../core/connector/contract.ts';
import { connect, type RedisHandle } from '../../../../worker/redis/connection.ts';
import { createPoints } from '../../../../worker/redis/points.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
/** As another process would be: a connection of its own. */
let other: RedisHandle;
beforeAll(() => {
  other = connect({ path: redis.socket }, () => undefined);
});
afterAll(() => other.close());

let accounts = 0;
const assumed = { limit: 1_000, perSecond: 50 };
const wanted = (more: Partial<PointsWanted> = {}): PointsWanted => ({ base: 0, each: 10, most: 40, assumed, ...more });

/** The bucket of one account, seen by two processes; its time passes only while somebody waits. */
function pair() {
  const tag = `{cl:a${++accounts}}:budget`;
  let ms = 1_000_000;
  const time = {
    now: () => new Date(ms),
    sleep: async (wait: number) => {
      await realSleep(2);
      ms += wait;
    },
  };
  const one = createPoints(redis.handle.client, tag, time);
  const two = createPoints(other.client, tag, time);
  const later = (wait: number) => {
    ms += wait;
  };
  return { one, two, later, elapsed: () => ms - 1_000_000 };
}

test('it takes points for all records where the bucket holds them, for all processes together (audit 38)', async () => {
  const { one, two, elapsed } = pair();
  expect((await one(wanted())).records).toBe(40);
  expect((await two(wanted())).records).toBe(40);
  expect(elapsed()).toBe(0);
  // 200 of 1,000 are left: less than half of the bucket buys no call yet.
  expect((await one(wanted({ most: 60 }))).records).toBeGreaterThanOrEqual(50);
  expect(elapsed()).toBeGreaterThanOrEqual(6_000);
  expect(elapsed()).toBeLessThan(6_200);
});

test('it sizes a call to what the bucket holds (audit 38)', async () => {
  const { one } = pair();
  await one(wanted({ most: 30 }));
  expect((await one(wanted({ most: 95 }))).records).toBe(70);
});

test('it knows by the answers what the bucket holds, and counts what is still under way (audit 38)', async () => {
  const { one, two, elapsed } = pair();
  const [first, second] = [await one(wanted()), await two(wanted())];
  // The shop has not met the second call yet.
  await first.settle({ limit: 20_000, perSecond: 1_000, available: 20_000 });
  expect((await one(wanted({ each: 1, most: 50_000 }))).records).toBe(19_600);
  await second.settle('unspent');
  expect((await two(wanted({ most: 1, least: 1, each: 400 }))).records).toBe(1);
  expect(elapsed()).toBe(0);
});

test('it gives back what a call that never left has taken, and nothing for one that nobody knows of (audit 38)', async () => {
  const { one, elapsed } = pair();
  await (await one(wanted({ most: 100 }))).settle('unspent');
  await (await one(wanted({ most: 100 }))).settle('unknown');
  expect(elapsed()).toBe(0);
  await one(wanted({ most: 50 }));
  expect(elapsed()).toBeGreaterThanOrEqual(10_000);
});

test('it counts a call of a process that died for as long as a call may take, and not for good (audit 38)', async () => {
  const { one, later } = pair();
  await one(wanted({ most: 90 }));
  later(130_000);
  const next = await one(wanted({ most: 1 }));
  await next.settle({ limit: 1_000, perSecond: 50, available: 1_000 });
  expect((await one(wanted({ most: 100 }))).records).toBe(100);
});

test('it serves the oldest work first, over all processes, and the background behind it (audit 38)', async () => {
  const { one, two, later } = pair();
  await one(wanted({ most: 100 }));
  const served: string[] = [];
  const wait = (name: string, take: typeof one, more: Partial<PointsWanted>, urgency: 'work' | 'background' = 'work') =>
    take(wanted({ most: 100, least: 100, ...more }), urgency).then(() => served.push(name));
  const waiting = [wait('poll', one, { most: 40, least: 40 }, 'background'), wait('first', two, {})];
  later(1);
  waiting.push(wait('second', one, {}));
  // The rest of work that began before all of these.
  waiting.push(wait('its rest', two, { since: 999_000 }));
  await Promise.all(waiting);
  expect(served).toEqual(['its rest', 'first', 'second', 'poll']);
});

test('it serves older work of another process before its own (audit 38)', async () => {
  const { one, two, later } = pair();
  await one(wanted({ most: 100 }));
  const served: string[] = [];
  const waiting: Promise<unknown>[] = [];
  for (const [name, take] of [
    ['two', two],
    ['one', one],
  ] as const) {
    for (let i = 0; i < 4; i++) {
      waiting.push(take(wanted({ most: 100, least: 100 })).then(() => served.push(name)));
      await realSleep(5);
      later(1);
    }
  }
  await Promise.all(waiting);
  expect(served).toEqual(['two', 'two', 'two', 'two', 'one', 'one', 'one', 'one']);
});

test('it lets the background have its turn where work never ends (audit 38)', async () => {
  const { one, elapsed } = pair();
  let isServed = false;
  const poll = one(wanted({ most: 40 }), 'background').then(() => {
    isServed = true;
  });
  while (!isServed) await one(wanted({ most: 100, least: 100 }));
  await poll;
  expect(elapsed()).toBeLessThan(180_000);
});

test('it leaves half of the bucket to work (audit 38)', async () => {
  const { one, elapsed } = pair();
  expect((await one(wanted({ most: 100 }), 'background')).records).toBe(50);
  expect((await one(wanted({ most: 50 }))).records).toBe(50);
  expect(elapsed()).toBe(0);
});

test('it waits for a full bucket, and no longer, where a call costs more than it holds (audit 38)', async () => {
  const { one, elapsed } = pair();
  await one(wanted({ most: 100 }));
  expect((await one(wanted({ each: 5_000, most: 3 }))).records).toBe(1);
  expect(elapsed()).toBeGreaterThanOrEqual(20_000);
  expect(elapsed()).toBeLessThan(20_200);
});

test('it forgets the place of a process that died in line (audit 38)', async () => {
  const { one, two, later } = pair();
  await one(wanted({ most: 100 }));
  const gone = connect({ path: redis.socket }, () => undefined);
  const dying = createPoints(gone.client, `{cl:a${accounts}}:budget`, {
    now: () => new Date(0),
    sleep: () => new Promise(() => undefined),
  });
  void dying(wanted()).catch(() => undefined);
  await realSleep(20);
  later(30_000);
  expect((await two(wanted())).records).toBe(40);
  await gone.close();
});
