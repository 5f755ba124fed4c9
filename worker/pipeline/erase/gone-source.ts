import { EraseJob } from '../jobs.ts';
import type { SourcePipeline } from '../source-pipeline.ts';
import { erase } from './erase.ts';

/**
 * Erasures that were asked for through a source which is in no configuration any more: nobody runs its jobs, and whoever asked
 * was told that it is taken. What can't be done yet is kept, and gone on with by the sweep.
 */
export async function eraseForGone({ context, stages }: Pick<SourcePipeline, 'context' | 'stages'>): Promise<void> {
  const { queue } = stages.erase;
  for (const job of await queue.getJobs(['waiting', 'prioritized', 'delayed', 'active'])) {
    const { data } = EraseJob.safeParse(stages.erase.fromStored(job.data));
    if (data?.kind !== 'erase') continue;
    await erase(data, context);
    await job.remove();
  }
}
