import { Queue, Worker } from 'bullmq';
import { expect, test } from 'vitest';
import { tagOf } from '../../../../worker/redis/keys.ts';
import { queueDepth, queuedJobs, togetherId } from '../../../../worker/redis/queued-jobs.ts';
import { overriding } from '../../../support/manual.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

test('it counts the jobs of a queue as BullMQ does: waiting, running and delayed ones, also while it is paused', async () => {
  const shared = { prefix: tagOf('shop'), connection: redis.handle.bull() };
  const queue = new Queue('plan', shared);
  const counted = async () => [
    await queuedJobs(redis.handle.client, 'shop', 'plan'),
    await queue.getJobCountByTypes('waiting', 'active', 'delayed'),
  ];
  expect(await counted()).toEqual([0, 0]);
  for (const name of ['a', 'b', 'c']) await queue.add(name, {});
  await queue.add('later', {}, { delay: 60_000 });
  expect(await counted()).toEqual([4, 4]);
  const worker = new Worker('plan', null, shared);
  expect((await worker.getNextJob('token'))?.name).toBe('a');
  expect(await queue.getJobCountByTypes('active')).toBe(1);
  expect(await counted()).toEqual([4, 4]);
  await queue.pause();
  await queue.add('d', {});
  expect(await counted()).toEqual([5, 5]);
  await worker.close();
  await queue.close();
});

test('it counts what a job holds: in a long queue by the first thousand', async () => {
  const queue = new Queue('plan', { prefix: tagOf('groups'), connection: redis.handle.bull() });
  const counted = async () => await queuedJobs(redis.handle.client, 'groups', 'plan');
  const together = (n: number) => ({ name: 'plan', data: {}, opts: { jobId: togetherId([`${n}`, 'b', 'c']) } });
  await queue.addBulk([together(0), { name: 'plan', data: {} }]);
  expect(await counted()).toBe(4);
  await queue.addBulk(Array.from({ length: 2_998 }, (_, n) => together(n + 1)));
  expect(await counted()).toBe(9_000);
  await queue.close();
});

test('it counts what those hold that wait for their time', async () => {
  const queue = new Queue('plan', { prefix: tagOf('later'), connection: redis.handle.bull() });
  const delay = 3_600_000;
  await queue.add('plan', {}, { delay });
  await queue.add('plan', {}, { delay, jobId: togetherId(['a', 'b', 'c']) });
  expect(await queuedJobs(redis.handle.client, 'later', 'plan')).toBe(4);
  await queue.close();
});

test('it counts none in a queue whose last job begins while it counts', async () => {
  const emptied = overriding(redis.handle.client, { llen: async () => 1 });
  expect(await queuedJobs(emptied, 'emptied', 'plan')).toBe(0);
});

test('it tells since when the first of those that wait could have begun: one that waited for its time, since that', async () => {
  const prefix = tagOf('delays');
  const queue = new Queue('ask', { prefix, connection: redis.handle.bull() });
  const depth = async () => await queueDepth(redis.handle.client, { prefix, name: 'ask' });
  expect(await depth()).toEqual({ waiting: 0, running: 0, delayed: 0, failed: 0 });
  const { timestamp } = await queue.add('later', {}, { delay: 3_600_000 });
  expect(await depth()).toEqual({ waiting: 0, running: 0, delayed: 1, failed: 0 });
  await queue.promoteJobs();
  const oldestAt = new Date(timestamp + 3_600_000);
  expect(await depth()).toEqual({ waiting: 1, running: 0, delayed: 0, failed: 0, oldestAt });
  await queue.close();
});
