import { setTimeout as realSleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BudgetSettings, createBudget } from '../../../worker/redis/budget.ts';
import { connect, type RedisHandle } from '../../../worker/redis/connection.ts';
import { useRedis } from '../../redis.ts';

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
  const one = createBudget(redis.handle.client, { account, ...settings }, { sleep });
  const two = createBudget(other.client, { account, ...settings }, { sleep });
  return { account, one, two, slept, sleep };
}

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
    expect(slept).toHaveLength(1);
    expect(slept[0]).toBeGreaterThan(50);
    expect(slept[0]).toBeLessThanOrEqual(150);
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

  test('it pauses one lane alone, and every lane with the account', async () => {
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

describe('a budget with a rate', () => {
  test('it gives two processes together the burst at once and then one slot after the other', async () => {
    const { one, two } = pair({ perSecond: 20, burst: 5 });
    const begun = performance.now();
    const at = await Promise.all(
      Array.from({ length: 15 }, async (_, i) => {
        await (i % 2 === 0 ? one : two).take();
        return performance.now() - begun;
      }),
    );
    // Ten calls beyond the burst, 50 ms apart; a timer may be a little early by the other clock.
    expect(Math.max(...at)).toBeGreaterThan(10 * 50 - 20);
    const waves = at.toSorted((a, b) => a - b);
    for (let i = 5; i < 15; i++) expect(waves[i]).toBeGreaterThan((i - 4) * 50 - 20);
  });

  test('it reserves nothing for a call that will not wait', async () => {
    const { account, one } = pair({ perSecond: 1 / 60, burst: 1, maxWaitMs: 10 });
    await one.take();
    const slot = await other.client.get(`{cl:${account}}:budget:slot`);
    for (let i = 0; i < 5; i++) await expect(one.take()).rejects.toThrow(/used up/);
    expect(await other.client.get(`{cl:${account}}:budget:slot`)).toBe(slot);
  });

  test('it spaces the calls that come after a pause', async () => {
    const { one, slept } = pair({ perSecond: 100, burst: 1 });
    await one.pause(100);
    await Promise.all(Array.from({ length: 4 }, () => one.take()));
    const [first = 0, , , last = 0] = slept.toSorted((a, b) => a - b);
    expect(last - first).toBeGreaterThanOrEqual(25);
  });

  test('it obeys a pause that another process is told while this one waits for its slot', async () => {
    const account = `a${++accounts}`;
    const two = createBudget(other.client, { account }, { sleep: realSleep });
    const slept: number[] = [];
    const sleep = async (ms: number) => {
      if (slept.push(ms) === 1) await two.pause(60_000);
    };
    const one = createBudget(redis.handle.client, { account, perSecond: 10, burst: 1 }, { sleep });
    await one.take();
    await expect(one.take()).rejects.toMatchObject({ advice: { throttled: true } });
    expect(slept).toHaveLength(1);
  });
});

test('every key of an account lies in one slot of a cluster', async () => {
  const { account, one } = pair({ perSecond: 1, burst: 1, maxWaitMs: 0 });
  await one.take('search');
  await one.pause(1_000);
  await one.pause(1_000, 'search');
  const keys = await other.client.keys(`*${account}}*`);
  expect(keys.toSorted()).toEqual(['pause', 'pause:search', 'slot'].map((key) => `{cl:${account}}:budget:${key}`));
});
