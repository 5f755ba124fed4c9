import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { JobQueue } from '../../../../worker/pipeline/job-queue.ts';
import type { JobResult } from '../../../../worker/pipeline/jobs.ts';
import { Stage, type StageOptions } from '../../../../worker/pipeline/stage.ts';
import { memoryLog, until } from '../../loop.ts';

/** What the jobs hold: a number. */
const Data = z.strictObject({ n: z.number() });
type Queue = ConstructorParameters<typeof JobQueue<typeof Data>>[0];

/** Shown a number, and which run of it this is, from 1. */
export type ProcessNumber = (n: number, run: number) => Promise<JobResult>;
export type NumberStageOptions = Partial<StageOptions<typeof Data>>;

/** Stages that work on jobs of numbers, until the test ends. */
export function numberStages(source: string, process: ProcessNumber, options: NumberStageOptions) {
  const { log, told } = memoryLog();
  const runs = new Map<number, number>();
  const givenUp: number[] = [];
  const open = (queue: Omit<Queue, 'data' | 'onLost'>) => {
    const jobs = new JobQueue({ ...queue, data: Data, onLost: () => undefined });
    const stage = new Stage({
      jobs,
      source,
      concurrency: 1_000,
      process: async ({ n }) => {
        const run = (runs.get(n) ?? 0) + 1;
        runs.set(n, run);
        return await process(n, run);
      },
      giveUp: async ({ n }) => void givenUp.push(n),
      onConfigError: async () => undefined,
      alert: async () => undefined,
      probe: async () => undefined,
      ports: { random: () => 0.25, now: () => new Date() },
      log,
      ...options,
    });
    onTestFinished(() => stage.close(1_000));
    const empty = () => until(async () => Object.values(await jobs.queue.getJobCounts()).every((count) => count === 0));
    return { jobs, stage, empty };
  };
  return { open, runs, givenUp, told };
}
