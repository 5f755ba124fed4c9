import { expect, test } from 'vitest';
import { longestWaitMs } from '../../../../core/retry.ts';
import { Outage, sentenceOf } from '../../../../worker/operations/outage.ts';
import { createBudget, liftWaits } from '../../../../worker/redis/budget.ts';
import { resumeStep } from '../../../../worker/support/resume.ts';
import { stateOfSource } from '../../../../worker/support/source-state.ts';
import { memoryLog, startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { startService } from '../../../support/service.ts';

const redis = useRedis();
const absurd = '99999999999';
const dayMs = 86_400_000;

test('a service that asks to wait for three thousand years is tried within a quarter of an hour, is shown with its word, and is tried at once when a person resumes the source', async () => {
  const feedback = await startService();
  feedback.standin.faults.add({ path: '/api/', status: 429, headers: { 'retry-after': absurd }, times: 1_000_000 });
  const loop = await startLoop(redis, { source: 'absurd', feedback });
  await loop.closeAll(['a', 'b', 'c']);
  const { service, pipelines } = loop.app.engine;
  const down = await until(() => service.down({ now: true }));
  expect(down.untilProbeMs).toBeLessThanOrEqual(longestWaitMs);
  expect(down.askedUntil?.getTime()).toBeGreaterThan(Date.now() + dayMs - 3_600_000);
  expect(sentenceOf(down)).toMatch(
    /asks to wait until 20\S+ \(by its Retry-After\), tried again at 20\S+ all the same/,
  );
  const pipeline = pipelines.get('absurd') ?? expect.fail('no pipeline');
  const { context, pauses, holds, vendor, jobs } = pipeline;
  const { client } = redis.handle;
  const state = await stateOfSource({ ...context, ...pipeline }, { service: down, redis: client, now: new Date() });
  expect(state.down).toMatchObject([{ askedUntil: down.askedUntil, triedAt: down.triedAt }]);
  expect((await loop.app.engine.paused()).feedback).toMatchObject([{ why: expect.stringContaining('asks to wait') }]);
  feedback.standin.faults.clear();
  const resumable = { redis: client, pauses, holds, vendor, service, account: 'absurd' };
  expect(await resumeStep(resumable, 'ask', jobs.ask.queue)).toEqual({ paused: [], tried: ['Feedback service'] });
  for (const id of ['a', 'b', 'c']) await loop.journey(`${id}.1`, 'asked');
  expect(feedback.standin.requests()).toHaveLength(3);
});

test('each further word of an endpoint that asks to wait has it tried within a quarter of an hour of that word', async () => {
  const { log } = memoryLog();
  const outage = new Outage(redis.handle.client, { endpoint: 'source shop', key: '{cl:word}:outage', log });
  for (const waitMs of [dayMs, 1_000, Number.MAX_SAFE_INTEGER]) {
    await outage.failed('answered 429', waitMs);
    expect((await outage.down({ now: true }))?.untilProbeMs).toBeLessThanOrEqual(longestWaitMs);
  }
  expect(await outage.lift()).toBe(true);
  expect(await outage.down({ now: true })).toMatchObject({ untilProbeMs: 0 });
  expect(await outage.down({ now: true })).not.toHaveProperty('askedUntil');
});

test("a vendor's wait holds up its account for a quarter of an hour at most, says until when the vendor wants it, and ends when it is lifted", async () => {
  const { client } = redis.handle;
  const budget = createBudget(client, { account: 'long' }, { now: () => new Date(), sleep: async () => undefined });
  const waits: [what: string, begin: () => Promise<void>, endpoint?: string][] = [
    ['a pause', () => budget.pause(dayMs)],
    ['a pause of an endpoint', () => budget.pause(dayMs, 'search'), 'search'],
    ['a used-up quota', () => budget.reportRemaining({ limit: 9, remaining: 0, resetMs: dayMs }, 'daily')],
  ];
  for (const [what, begin, endpoint] of waits) {
    await begin();
    const error = await budget.take(endpoint).catch((thrown: unknown) => thrown);
    expect(error, what).toMatchObject({ advice: { throttled: true, retryAfterMs: expect.closeTo(dayMs, -5) } });
    for (const key of await client.keys('{cl:long}:budget:[pq]*[!s]'))
      expect(await client.pttl(key), key).toBeLessThanOrEqual(longestWaitMs);
    await liftWaits(client, 'long');
    await budget.take(endpoint);
  }
});

test('a quota of a vendor that is used up is shown until the vendor was tried again, with its own word', async () => {
  const { log } = memoryLog();
  const key = '{cl:own-word}:outage';
  const outage = new Outage(redis.handle.client, { endpoint: 'source shop', key, log });
  await outage.usedUp(dayMs);
  await outage.usedUp(longestWaitMs);
  expect((await outage.quota())?.until.getTime()).toBeGreaterThan(Date.now() + dayMs - 60_000);
  expect(await redis.handle.client.pttl(`${key}:quota`)).toBeLessThanOrEqual(longestWaitMs + 60_000);
  await outage.lift();
  expect(await outage.quota()).toBeUndefined();
});
