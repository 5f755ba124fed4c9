import { expect, test } from 'vitest';
import type { SourceEvent } from '../../../../core/connector/contract.ts';
import { deliveriesByHour, lastDeliveries } from '../../../../worker/operations/delivery-counts.ts';
import { queuedJobs } from '../../../../worker/redis/queued-jobs.ts';
import { type UnitContext, useManual } from '../../../support/manual.ts';

const { redis, unitContext } = useManual();
const at = new Date('2026-11-20T10:00:00Z');
const closed = (recordId: string, more: object = {}): SourceEvent => ({
  kind: 'closed',
  recordId,
  at,
  key: `key ${recordId}`,
  what: 'toy closed',
  ...more,
});
const grade = (recordId: string): SourceEvent => ({
  kind: 'external-grade',
  recordId,
  at,
  key: `grade ${recordId}`,
  what: 'graded',
  grade: 5,
  comment: 'Fine.',
});

async function open() {
  const unit = unitContext();
  await unit.engine.openIngestion();
  return { unit, deliver: (...events: SourceEvent[]) => unit.engine.ingestion.store('calm', events, at) };
}

/** The records that each job of the queue is about. */
async function jobs({ pipeline }: UnitContext): Promise<string[][]> {
  const { plan } = pipeline.jobs;
  const all = (await plan.queue.getJobs()).map(({ data }) => plan.dataIn(data) ?? expect.fail('unreadable'));
  return all.map((events) => events.map((event) => ('recordId' in event ? event.recordId : ''))).toSorted();
}

test('deliveries that come at the same time are one job, and count as what they hold', async () => {
  const { unit, deliver } = await open();
  await Promise.all(['a', 'b', 'c'].map((id) => deliver(closed(id))));
  expect(await jobs(unit)).toEqual([['a', 'b', 'c']]);
  expect(await queuedJobs(redis.handle.client, 'calm', 'plan')).toBe(3);
});

test('what is stored together is read with the instants that it came with', async () => {
  const { unit, deliver } = await open();
  await Promise.all([deliver(closed('a')), deliver(closed('b'))]);
  const { plan } = unit.pipeline.jobs;
  const [job] = await plan.queue.getJobs();
  const instants = { at, receivedAt: at };
  expect(plan.dataIn(job?.data)).toMatchObject([
    { recordId: 'a', ...instants },
    { recordId: 'b', ...instants },
  ]);
});

test('a delivery that comes alone is a job of its own, and is not stored again while that waits', async () => {
  const { unit, deliver } = await open();
  await deliver(closed('a'));
  await deliver(closed('b'));
  await deliver(closed('a'));
  expect(await jobs(unit)).toEqual([['a'], ['b']]);
});

test('an event that is delivered twice at the same time is stored once', async () => {
  const { unit, deliver } = await open();
  await Promise.all([deliver(closed('a')), deliver(closed('a')), deliver(closed('b'))]);
  expect(await jobs(unit)).toEqual([['a', 'b']]);
});

test('what holds personal data has a job of its own, which an erasure can change', async () => {
  const { unit, deliver } = await open();
  const snapshot = { email: 'erika@example.com' };
  await Promise.all([deliver(closed('a'), closed('s', { snapshot }), grade('g')), deliver(closed('b'))]);
  expect(await jobs(unit)).toEqual([['a', 'b'], ['g'], ['s']]);
});

test('a job holds so many events and no more', async () => {
  const { unit, deliver } = await open();
  await Promise.all(Array.from({ length: 120 }, (_, n) => deliver(closed(`r${n}`))));
  expect((await jobs(unit)).map(({ length }) => length).toSorted()).toEqual([20, 50, 50]);
});

test('deliveries are counted by the hour in which they came, under load a second later, and when the process ends', async () => {
  const { unit, deliver } = await open();
  const { storedAs } = unit.context;
  const from = new Date(Date.now() - 86_400_000);
  const counted = async () => {
    const hours = await deliveriesByHour(redis.handle.client, storedAs, { from, until: new Date() });
    return [...hours.values()].reduce((sum, count) => sum + count, 0);
  };
  const before = await counted();
  for (const id of ['a', 'b', 'c']) await deliver(closed(id));
  expect((await counted()) - before).toBe(1);
  await expect.poll(async () => (await counted()) - before, { timeout: 3_000 }).toBe(3);
  for (const id of ['d', 'e']) await deliver(closed(id));
  unit.engine.ingestion.close();
  await expect.poll(async () => (await counted()) - before).toBe(5);
  const [[hour = 0] = []] = await deliveriesByHour(redis.handle.client, storedAs, {
    from: new Date(),
    until: new Date(),
  });
  expect(new Date(hour).toISOString()).toMatch(/T\d\d:00:00\.000Z$/);
  expect(await lastDeliveries(redis.handle.client, storedAs)).toMatchObject({ lastDelivery: expect.any(Date) });
});
