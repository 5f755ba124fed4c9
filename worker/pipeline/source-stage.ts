import type { z } from 'zod';
import { notingCalls } from '../../core/connector/calls.ts';
import { ExpressionSetAside } from '../../core/mapping/expression-failure.ts';
import { keepCalls, WorkCalls } from '../journey/calls.ts';
import { refOf } from '../journey/refs.ts';
import type { Outage } from '../operations/outage.ts';
import type { Pauses } from '../operations/pauses.ts';
import { tagOf } from '../redis/keys.ts';
import { probe } from '../redis/unavailable.ts';
import type { ActContext } from './act/act.ts';
import type { EngineOptions } from './engine-options.ts';
import type { EraseContext } from './erase/find.ts';
import type { JobQueue } from './job-queue.ts';
import type { JobResult } from './jobs.ts';
import type { PlanAndAskContext } from './plan-and-ask.ts';
import { Stage, type StageOptions } from './stage.ts';
import type { WriteBackContext } from './write-back/write-back.ts';

/** The default for how many jobs of a stage run at once: ten full vendor batches, so that a thousand records that arrive together stay together. */
const mostAtOnce = 1_000;
/** The wait before a job whose expression was stopped is tried again. Real time. */
const asideMs = 600_000;

/** The parts of a source that all its steps together need. */
export type StepsContext = PlanAndAskContext & WriteBackContext & ActContext & EraseContext;

export interface StagesOptions {
  context: StepsContext;
  pauses: Pauses;
  vendor: Outage;
  service: Outage;
  engine: EngineOptions;
}

/** How a step of the pipeline processes a job, and gives one up. */
export interface Step<Data extends z.ZodType>
  extends Pick<StageOptions<Data>, 'endpoints' | 'keepGivenUp' | 'busyConcurrency' | 'onInterrupted'> {
  process: (job: z.output<Data>, context: StepsContext) => Promise<JobResult>;
  giveUp: (job: z.output<Data>, why: string, context: StepsContext) => Promise<void>;
  /** The command for a person about a job that was given up, once the cause is mended. */
  remedy: (job: z.output<Data>) => string;
  concurrency?: number;
}

export function createStage<Data extends z.ZodType>(
  jobs: JobQueue<Data>,
  { process, giveUp, remedy, ...step }: Step<Data>,
  { context, pauses, engine: { redis, observer, jobsAtOnce } }: StagesOptions,
): Stage<Data> {
  const { name: source, retryForMs, ports, log, alert, holds } = context;
  const { name } = jobs.options;
  return new Stage({
    concurrency: jobsAtOnce ?? mostAtOnce,
    ...step,
    jobs,
    source,
    process: async (job) =>
      await jobs.approach.run(async (arrived) => {
        const work = () => process(job, tellingOfCalls(context, arrived));
        return await untilMended(keepingCalls(job, context, work), context);
      }),
    giveUp: async (job, why) => {
      // Alerted first: after a kill in between the alert is repeated, and equal alerts count as one.
      const id = journeyIdOf(job);
      const journeys = id === undefined ? [] : [refOf(source, id)];
      await alert('given-up', why, `mend the cause, then ${remedy(job)}`, journeys);
      await giveUp(job, why, context);
    },
    onDone: () => pauses.cameThrough(jobs.queue),
    onConfigError: (why) => pauses.set(name, why),
    alert,
    probe: () => probe(redis, tagOf(context.storedAs)),
    ports,
    log,
    holds,
    retryForMs,
    observer,
  });
}

/** A context that calls `arrived` for each call to the vendor, once the call is part of a batch. */
function tellingOfCalls(context: StepsContext, arrived: () => void): StepsContext {
  const telling =
    <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> => {
      const called = call(...given);
      arrived();
      return called;
    };
  return { ...context, read: telling(context.read), write: telling(context.write) };
}

/** The journey that a job names. Read without a schema: most jobs name no journey, and zod is slow to report that. */
function journeyIdOf(job: unknown): string | undefined {
  if (typeof job !== 'object' || job === null || !('journeyId' in job)) return undefined;
  return typeof job.journeyId === 'string' ? job.journeyId : undefined;
}

/** Notes the calls of a job. A job that a call has failed changes no journey: its calls are stored with the journey in a write of their own. */
async function keepingCalls<T>(
  job: unknown,
  { store, clock }: Pick<StepsContext, 'store' | 'clock'>,
  work: () => Promise<T>,
): Promise<T> {
  return await notingCalls(new WorkCalls(() => clock.now()), async () => {
    try {
      return await work();
    } finally {
      await keepCalls(store, journeyIdOf(job));
    }
  });
}

/**
 * A job whose expression was stopped waits without spending an attempt, and a person is alerted. Other jobs go on: the expression may
 * work for their records.
 */
async function untilMended(work: Promise<JobResult>, { name, log, alert, ports }: StepsContext): Promise<JobResult> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ExpressionSetAside)) throw error;
    const why = error.message;
    log.error({ source: name, why }, 'an expression was stopped: what needs it waits');
    await alert('to-do', why, 'mend the expression and restart; what needs it waits, and goes on within ten minutes');
    // The wait has jitter, as each of these jobs may use up its CPU time again.
    return { do: 'wait', delayMs: asideMs * (0.5 + ports.random()) };
  }
}
