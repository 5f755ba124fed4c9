import type { JobQueue } from '../../../../worker/pipeline/job-queue.ts';

/** Each job of the queue was interrupted so many times, as BullMQ notes of a job whose lock ran out. */
export async function haveStalled({ queue }: Pick<JobQueue<never>, 'queue'>, times: number): Promise<void> {
  const client = await queue.getBackend().client;
  for (const { id = '' } of await queue.getJobs()) await client.hset(queue.toKey(id), { stc: times });
}
