import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { changeJobs } from '../../../../worker/pipeline/change-jobs.ts';
import { JobQueue } from '../../../../worker/pipeline/job-queue.ts';
import { useRedis } from '../../../support/redis.ts';
import { mostInATurn } from '../../../support/turns.ts';

const redis = useRedis();
const Data = z.object({ n: z.number() });

test('each job that is looked at has a turn of the event loop of its own, as it may hold a whole delivery (audit loop)', async () => {
  const onLost = (): void => undefined;
  const jobs = new JobQueue({
    name: 'looked-at',
    prefix: '{cl:looked}',
    connection: { path: redis.socket },
    data: Data,
    onLost,
  });
  const { queue } = jobs;
  onTestFinished(() => queue.close());
  await queue.addBulk(Array.from({ length: 70 }, (_, n) => ({ name: 'one', data: { n } })));
  const { counted, count } = mostInATurn();
  const seen: number[] = [];
  const unreadable = await changeJobs(jobs, async ({ n }) => {
    count();
    seen.push(n);
    return n === 50 ? { n: 1_000 } : undefined;
  });
  expect(unreadable).toEqual([]);
  expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 70 }, (_, n) => n));
  // A turn that was planned before the count began anew is counted with the one before.
  expect(counted.most).toBeLessThanOrEqual(2);
  expect((await queue.getJobs()).filter(({ data }) => Data.parse(data).n === 1_000)).toHaveLength(1);
});
