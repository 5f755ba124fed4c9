import type { Job, Queue } from 'bullmq';
import type { z } from 'zod';
import { slices, spread } from '../../core/spread.ts';
import type { JobQueue } from './job-queue.ts';

/** How many jobs are read at once: each job may hold a delivery of 1 MiB. */
const changedAtOnce = 20;

/**
 * Changes the data of waiting and running jobs. Skips jobs that can't be read.
 * @param change returns undefined to leave a job as it is
 * @returns ids of jobs that can't be read: of another version, or broken
 */
export async function changeJobs<Data extends z.ZodType>(
  jobs: JobQueue<Data>,
  change: (data: z.output<Data>) => Promise<z.input<Data> | undefined> | z.input<Data> | undefined,
): Promise<string[]> {
  const unreadable: string[] = [];
  // One call for all lists, as jobs move from one list to another.
  const ids = await jobs.queue.getRanges(['active', 'waiting', 'prioritized', 'delayed', 'failed'], 0, -1);
  for (const some of slices(ids, changedAtOnce)) {
    const found = await Promise.all(some.map(async (id) => ({ id, job: await jobOf(jobs.queue, id) })));
    for await (const { id, job } of spread(found, 1)) {
      if (job === undefined) continue;
      const all = job === 'unreadable' ? undefined : jobs.dataIn(job.data);
      if (job === 'unreadable' || all === undefined) {
        unreadable.push(id);
        continue;
      }
      const changed = await Promise.all(all.map(change));
      if (changed.every((data) => data === undefined)) continue;
      const [first, ...others] = all.map((data, i) => changed[i] ?? data);
      await job
        .updateData(jobs.toStored(others.length === 0 ? first : [first, ...others]))
        .catch(async (error: unknown) => {
          // A job that finished meanwhile is gone, and its data with it.
          if (await jobOf(jobs.queue, id)) throw error;
        });
    }
  }
  return unreadable;
}

/** BullMQ throws a SyntaxError where a job's data is no JSON. */
async function jobOf(queue: Queue, id: string): Promise<Job | 'unreadable' | undefined> {
  try {
    return await queue.getJob(id);
  } catch (error) {
    if (error instanceof SyntaxError) return 'unreadable';
    throw error;
  }
}
