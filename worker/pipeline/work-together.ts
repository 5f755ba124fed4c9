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
  /** The id of the job that holds the data. */
  job: string | undefined;
  source: string;
  process: (data: z.output<Data>) => Promise<JobResult>;
  ended: (end: JobEnd) => void;
  /** The wait that is used in place of this one: shorter while an endpoint is down. */
  within: (delayMs: number) => Promise<number>;
  ports: Pick<Ports, 'random'>;
  log: Log;
}

/** The wait before failed data is tried in a job of its own: none after an error that no retry mends, so that its stage stops or gives the job up. */
export function afterFailure(
  error: unknown,
  { random }: Pick<Ports, 'random'>,
): { do: 'wait' | 'retry'; delayMs: number } {
  const next = nextStep(adviceOf(error), { attempt: 1, elapsedMs: 0, doubts: 1 }, random());
  return next.do === 'stop' ? { do: 'retry', delayMs: 0 } : next;
}

/**
 * Processes all data of one job at the same time. Data whose processing fails or has to wait gets a job of its own at once, which is
 * retried, held and given up like any other job. Repeating the whole job after a kill is harmless: finished data is recognised, and
 * an existing job is not added again.
 * @returns whether any data was processed to the end
 * @throws the error of an unavailable Redis, after all data has been processed: then the whole job is repeated
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
      log.debug({ source, stage: jobs.options.name, why: messageOf(error) }, 'will be retried in a job of its own');
      ended('retried');
      const next = afterFailure(error, ports);
      await jobs.addSingly([data], { from, delayMs: next.do === 'wait' ? await within(next.delayMs) : next.delayMs });
      return false;
    }
  };
  const ends = await Promise.allSettled(all.map(workOn));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return ends.some((end) => end.status === 'fulfilled' && end.value);
}
