import type { Job, Queue } from 'bullmq';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';

const atOnce = 500;
const all = ['waiting', 'prioritized', 'delayed', 'failed'] as const;

/** Whether a worker is processing the job. A killed worker's lock expires. */
async function isRunning(redis: RedisClient, tag: string, queue: Queue, id: string): Promise<boolean> {
  return (await redis.exists(`${tag}:${queue.name}:${id}:lock`)) === 1;
}

/** The number of jobs in these queues that workers are processing. */
export async function runningJobs(redis: RedisClient, tag: string, queues: readonly Queue[]): Promise<number> {
  let count = 0;
  for (const queue of queues) {
    for (const id of await queue.getRanges(['active'], 0, -1)) {
      if (await isRunning(redis, tag, queue, id)) count++;
    }
  }
  return count;
}

/**
 * Moves the jobs of one source to another. Each job is added before it is removed: after an interruption in between it is in both
 * queues, and may be processed twice, like any job. Jobs that a worker is processing stay.
 */
export async function moveJobs(redis: RedisClient, from: SourcePipeline, to: SourcePipeline): Promise<number> {
  let count = 0;
  const tag = tagOf(from.context.name);
  for (const name of ['plan', 'ask', 'writeBack', 'erase'] as const) {
    const [source, target] = [from.jobs[name].queue, to.jobs[name].queue];
    const active = await source.getRanges(['active'], 0, -1);
    const ids = new Set([...active, ...(await source.getRanges([...all], 0, -1))]);
    const jobs: Job[] = [];
    for (const id of ids) {
      const job = (await isRunning(redis, tag, source, id)) ? undefined : await source.getJob(id);
      if (job) jobs.push(job);
      if (jobs.length >= atOnce) count += await moveSome(jobs.splice(0), target);
    }
    count += await moveSome(jobs, target);
  }
  return count;
}

async function moveSome(jobs: readonly Job[], target: Queue): Promise<number> {
  if (jobs.length === 0) return 0;
  await target.addBulk(
    jobs.map((job) => {
      const { removeOnFail: _, prevMillis: _1, ...opts } = job.opts;
      const delay = Math.max(0, job.timestamp + job.delay - Date.now());
      return { name: job.name, data: job.data, opts: { ...opts, removeOnFail: true, delay, jobId: job.id ?? '' } };
    }),
  );
  for (const job of jobs) await job.remove();
  return jobs.length;
}
