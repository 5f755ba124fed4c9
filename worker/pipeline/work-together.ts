import type { z } from 'zod';
import { adviceOf, messageOf } from '../../core/errors.ts';
import type { Log, Ports } from '../../core/ports.ts';
import { nextStep } from '../../core/retry.ts';
import type { JobEnd } from '../operations/observer.ts';
import { isRedisUnavailable } from '../redis/unavailable.ts';
import type { JobQueue } from './job-queue.ts';
import type { JobResult } from './jobs.ts';

interface WorkTogetherOptions<Data extends z.ZodType> {
  jobs: Pick<JobQueue<Data>, 'addSingly' | 'options'>;
  /** The job that holds them. */
  job: string | undefined;
  source: string;
  process: (data: z.output<Data>) => Promise<JobResult>;
  ended: (end: JobEnd) => void;
  /** The wait of what was told to wait so long. */
  within: (delayMs: number) => Promise<number>;
  ports: Pick<Ports, 'random'>;
  log: Log;
}

/**
 * Processes what one job holds, all at the same time. What does not come through gets a job of its own as soon as that is known: it is
 * tried again, held, and given up there, as any job is. Does as little harm as any job when it is repeated after a kill: what came through
 * is found done, and what has a job of its own is not added again.
 * @returns whether any came through
 * @throws the error of a Redis that is away, once all of them have ended: then all are repeated
 */
export async function workTogether<Data extends z.ZodType>(
  all: readonly z.output<Data>[],
  { jobs, job: from, source, process, ended, within, ports, log }: WorkTogetherOptions<Data>,
): Promise<boolean> {
  const workOn = async (data: z.output<Data>): Promise<boolean> => {
    try {
      const result = await process(data);
      ended(result.do === 'done' ? 'done' : 'waits');
      if (result.do === 'wait') await jobs.addSingly([data], { from, delayMs: result.delayMs });
      return result.do === 'done';
    } catch (error) {
      if (isRedisUnavailable(error)) throw error;
      log.debug({ source, stage: jobs.options.name, why: messageOf(error) }, 'will be tried again by itself');
      ended('retried');
      const next = nextStep(adviceOf(error), { attempt: 1, elapsedMs: 0, doubts: 1 }, ports.random());
      const waitMs = next.do === 'stop' ? 0 : next.delayMs;
      await jobs.addSingly([data], { from, delayMs: next.do === 'wait' ? await within(waitMs) : waitMs });
      return false;
    }
  };
  const ends = await Promise.allSettled(all.map(workOn));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return ends.some((end) => end.status === 'fulfilled' && end.value);
}
