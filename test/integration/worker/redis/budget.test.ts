import { setTimeout as realSleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longestWaitMs } from '../../../../core/retry.ts';
import { type BudgetSettings, createBudget } from '../../../../worker/redis/budget.ts';
import { connect, type RedisHandle } from '../../../../worker/redis/connection.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
/** As another process would be: a connection of its own. */
let other: RedisHandle;
beforeAll(() => {
  other = connect({ path: redis.socket }, () => undefined);
});
afterAll(() => other.close());

let accounts = 0;
/** The same account seen by two processes, with the waits that each asks for. */
function pair(settings: Omit<BudgetSettings, 'account'> = {}) {
  const account = `a${++accounts}`;
  const slept: number[] = [];
  const sleep = async (ms: number) => {
    slept.push(ms);
    await realSleep(ms);
  };
  const now = () => new Date();
  const one = createBudget(redis.handle.client, { account, ...settings }, { sleep, now });
  const two = createBudget(other.client, { account, ...settings }, { sleep, now });
  return { account, one, two, slept, sleep };
}

/** By the clock of Redis a wait may have ended a millisecond early: that is waited for as well. */
const totalOf = (slept: readonly number[]): number => slept.reduce((sum, ms) => sum + ms, 0);

test('it takes a quota in fractions for what is whole of it', async () => {
  const { one } = pair();
  await one.reportRemaining({ limit: 20.5, remaining: 2.5, resetMs: 60_000 });
  for (let i = 0; i < 2; i++) await one.take();
  await expect(one.take()).rejects.toMatchObject({ advice: { throttled: true } });
});

describe('a budget without a rate', () => {
  test('it lets every call through', async () => {
    const { one, slept } = pair();
    await Promise.all(Array.from({ length: 100 }, () => one.take()));
    expect(slept).toEqual([]);
  });

  test('it holds another process back while paused, then lets it through', async () => {
    const { one, two, slept } = pair();
    await one.pause(150);
    await two.take();
    expect(totalOf(slept)).toBeGreaterThan(50);
    expect(totalOf(slept)).toBeLessThanOrEqual(151);
  });

  test('it throws, with the wait, when the pause is longer than a call waits', async () => {
    const { one, two, slept } = pair();
    await one.pause(60_000);
    const error = await two.take().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: 'CloseloopError',
      outcome: 'never-sent',
      advice: { kind: 'transient', throttled: true, retryAfterMs: expect.any(Number) },
    });
    expect(error).toHaveProperty('advice.retryAfterMs', expect.closeTo(60_000, -3.5));
    expect(slept).toEqual([]);
  });

  const shorter: [first: number, second: number][] = [
    [60_000, 1_000],
    [1_000, 60_000],
  ];
  test.each(shorter)('it keeps the longer of pauses of %d and %d ms', async (first, second) => {
    const { one, two } = pair();
    await one.pause(first);
    await two.pause(second);
    await expect(one.take()).rejects.toHaveProperty('advice.retryAfterMs', expect.closeTo(60_000, -3.5));
  });

  test.each([0, -5, Number.NaN])('it takes no notice of a pause of %d ms', async (ms) => {
    const { one, slept } = pair();
    await one.pause(ms);
    await one.take();
    expect(slept).toEqual([]);
  });

  test('it pauses one endpoint alone, and every endpoint with the account', async () => {
    const { one, two } = pair({ maxWaitMs: 0 });
    await one.pause(60_000, 'search');
    await expect(two.take('search')).rejects.toThrow(/used up/);
    await two.take();
    await two.take('objects');
    await one.pause(60_000);
    await expect(two.take('objects')).rejects.toThrow(/used up/);
  });

  test('it knows nothing of other accounts', async () => {
    const { one } = pair({ maxWaitMs: 0 });
    const { two } = pair({ maxWaitMs: 0 });
    await one.pause(60_000);
    await two.take();
  });
});

describe('a budget with a quota', () => {
  const quota = { limit: 10, remaining: 3, resetMs: 60_000 };

  test('it is used up by all processes together, and then holds everybody back', async () => {
    const { one, two } = pair();
    await one.reportRemaining(quota);
    await one.take();
    await two.take();
    await one.take();
    await expect(two.take()).rejects.toHaveProperty('advice.retryAfterMs', expect.closeTo(60_000, -3.5));
  });

  test.each<[string | undefined, number]>([
    [undefined, 5],
    ['daily', 1],
  ])('it leaves the background out below the floor of %s (%d of 10), and lets work through', async (name, floor) => {
    const { one, two } = pair({ maxWaitMs: 0 });
    await one.reportRemaining({ ...quota, remaining: floor + 1 }, name);
    await two.take(undefined, 'background');
    await expect(two.take(undefined, 'background')).rejects.toThrow(/used up/);
    for (let i = 0; i < floor; i++) await one.take();
    await expect(one.take()).rejects.toThrow(/used up/);
  });

  test('it believes the lower of what is reported and what was taken, until the window ends', async () => {
    const { one, two } = pair({ maxWaitMs: 0 });
    await one.reportRemaining({ limit: 10, remaining: 2, resetMs: 300 });
    await two.reportRemaining({ limit: 10, remaining: 9, resetMs: 60_000 }); // overtaken on its way
    await one.take();
    await one.take();
    await expect(one.take()).rejects.toThrow(/used up/);
    await realSleep(320);
    await one.take();
  });

  test('it holds an endpoint back alone', async () => {
    const { one } = pair({ maxWaitMs: 0 });
    await one.reportRemaining({ ...quota, remaining: 0 }, 'search');
    await expect(one.take('search')).rejects.toThrow(/used up/);
    await one.take();
  });

  test('it waits for the next window where that is near', async () => {
    const { one, slept } = pair();
    await one.reportRemaining({ limit: 10, remaining: 0, resetMs: 100 });
    await one.take();
    expect(totalOf(slept)).toBeGreaterThan(0);
  });

  test.each([
    { limit: 0, remaining: 0, resetMs: 60_000 },
    { limit: 10, remaining: 0, resetMs: 0 },
  ])('it takes no notice of a report that says nothing (%j)', async (nothing) => {
    const { one } = pair({ maxWaitMs: 0 });
    await one.reportRemaining(nothing);
    await one.take();
  });
});

test('every key of an account lies in one slot of a cluster', async () => {
  const { account, one } = pair({ maxWaitMs: 0 });
  await one.reportRemaining({ limit: 9, remaining: 9, resetMs: 60_000 });
  await one.reportRemaining({ limit: 9, remaining: 9, resetMs: 60_000 }, 'search');
  await one.take('search');
  await one.pause(1_000);
  await one.pause(1_000, 'search');
  const keys = await other.client.keys(`*${account}}*`);
  const names = ['pause', 'pause:search', 'quota', 'quota:search', 'quotas'];
  expect(keys.toSorted()).toEqual(names.map((key) => `{cl:${account}}:budget:${key}`));
});

test.each([1e18, 1e300, Number.POSITIVE_INFINITY])(
  'a pause of %d ms, or a window as long, is a quarter of an hour, as nobody would call the account again (audit loop)',
  async (ms) => {
    const { account, one } = pair();
    const tag = `{cl:${account}}:budget`;
    await one.reportRemaining({ limit: ms, remaining: 0, resetMs: ms });
    await one.pause(ms, 'slow');
    for (const key of [`${tag}:quota`, `${tag}:pause:slow`]) {
      expect(await redis.handle.client.pttl(key)).toBeGreaterThan(longestWaitMs - 60_000);
      expect(await redis.handle.client.pttl(key)).toBeLessThanOrEqual(longestWaitMs);
    }
    await expect(one.take()).rejects.toMatchObject({ advice: { kind: 'transient', throttled: true } });
  },
);
