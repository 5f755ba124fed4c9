import type { Job, Queue } from 'bullmq';
import type { z } from 'zod';
import { slices, spread } from '../../../core/spread.ts';
import type { Stage } from '../stage.ts';

/** Each may hold a delivery of 1 MiB. */
const atOnce = 20;

/**
 * Changes the data of jobs that have not ended, whether they wait or run. One that can't be read keeps no other from it.
 * @param change undefined: it stays as it is
 * @returns ids of jobs that can't be read: of another version, or broken
 */
export async function changeJobs<Data>(
  stage: Pick<Stage<z.ZodType<Data, Data>>, 'queue' | 'fromStored' | 'toStored'>,
  schema: z.ZodType<Data>,
  change: (data: Data) => Promise<Data | undefined> | Data | undefined,
): Promise<string[]> {
  const { queue } = stage;
  const unreadable: string[] = [];
  // All at once: jobs move from one list to another meanwhile.
  const ids = await queue.getRanges(['active', 'waiting', 'prioritized', 'delayed', 'failed'], 0, -1);
  for (const some of slices(ids, atOnce)) {
    const jobs = await Promise.all(some.map((id) => jobOf(queue, id)));
    for await (const [index, job] of spread(jobs.entries(), 1)) {
      if (job === undefined) continue;
      const { data } = job === 'unreadable' ? {} : schema.safeParse(stage.fromStored(job.data));
      if (job === 'unreadable' || data === undefined) {
        unreadable.push(some[index] ?? '');
        continue;
      }
      const changed = await change(data);
      if (changed === undefined) continue;
      await job.updateData(stage.toStored(changed)).catch(async (error: unknown) => {
        // One that was done meanwhile is gone, and its data with it.
        if (await jobOf(queue, some[index] ?? '')) throw error;
      });
    }
  }
  return unreadable;
}

/** BullMQ reads what a job holds as JSON. */
async function jobOf(queue: Queue, id: string): Promise<Job | 'unreadable' | undefined> {
  try {
    return await queue.getJob(id);
  } catch (error) {
    if (error instanceof SyntaxError) return 'unreadable';
    throw error;
  }
}
