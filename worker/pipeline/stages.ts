import { z } from 'zod';
import { ExpressionSetAside } from '../../core/mapping/expression.ts';
import { refOf } from '../journey/refs.ts';
import type { Outage } from '../operations/outage.ts';
import type { Pauses } from '../operations/pauses.ts';
import type { Tracing } from '../operations/tracing.ts';
import { tagOf } from '../redis/keys.ts';
import { shared } from '../redis/shared.ts';
import { probe } from '../redis/unavailable.ts';
import { type ActContext, act, giveUpAct } from './act/act.ts';
import { ask, giveUpAsk } from './ask/ask.ts';
import type { EngineOptions } from './engine-options.ts';
import { erase, giveUpErase } from './erase/erase.ts';
import type { EraseContext } from './erase/find.ts';
import type { JobQueue } from './job-queue.ts';
import type { ActJob, AskJob, EraseJob, JobResult, PlanJob, WriteBackJob } from './jobs.ts';
import { giveUpPlan } from './plan/plan.ts';
import { type PlanAndAskContext, planAndAsk, Readings } from './plan-and-ask.ts';
import type { JobQueues } from './queues.ts';
import { Stage, type StageOptions } from './stage.ts';
import { writeAndAct } from './write-and-act.ts';
import { expectLateWrite } from './write-back/late-write.ts';
import { giveUpWriteBack, type WriteBackContext, writeBack } from './write-back/write-back.ts';

/** Jobs of one stage at once, unless it is said otherwise: ten full vendor batches, so that a thousand records arriving together stay together. */
const mostAtOnce = 1_000;
/** While the process is busy: two batches and a half, so that planning reads some while it asks about others. */
const busyAtOnce = 250;

/**
 * How many journeys ask at once in a process that may make so many calls to the service: in the jobs that plan them, and in the asking
 * stage. More would only wait in this process, while others could ask about them. The stage has no fewer than a vendor's batch in hand.
 */
export function askingAtOnce(callsAtOnce: number): { planned: number; stage: number } {
  const planned = Math.ceil(2.5 * callsAtOnce);
  return { planned, stage: Math.max(100, planned) };
}

/** How soon a job whose expression was stopped is tried again. Real time. */
const asideMs = 600_000;

/** The stages of one source, one for each queue. */
export interface Stages {
  plan: Stage<typeof PlanJob>;
  ask: Stage<typeof AskJob>;
  writeBack: Stage<typeof WriteBackJob>;
  act: Stage<typeof ActJob>;
  erase: Stage<typeof EraseJob>;
}

/**
 * The stages whose jobs are run. A dry run has nothing to write back, and masks nobody: an erasure that was delivered to it waits for
 * a process in earnest (sweeping.ts).
 */
export function worked(stages: Stages, { dryRun }: { dryRun: boolean }): Stages[keyof Stages][] {
  return dryRun ? [stages.plan, stages.ask] : Object.values(stages);
}

/** What the steps of a source take between them. */
export type StepsContext = PlanAndAskContext & WriteBackContext & ActContext & EraseContext;

interface StagesOptions {
  context: StepsContext;
  pauses: Pauses;
  vendor: Outage;
  service: Outage;
  engine: EngineOptions;
}

/** How a step of the pipeline processes a job, and gives one up. */
interface Step<Data extends z.ZodType>
  extends Pick<StageOptions<Data>, 'endpoints' | 'keepGivenUp' | 'busyConcurrency' | 'onInterrupted'> {
  process: (job: z.output<Data>, context: StepsContext) => Promise<JobResult>;
  giveUp: (job: z.output<Data>, why: string, context: StepsContext) => Promise<void>;
  /** What a person does about a job that was given up, once the cause is mended. */
  remedy: (job: z.output<Data>) => string;
  concurrency?: number;
}

export function createStages(jobs: JobQueues, options: StagesOptions): Stages {
  const { context, vendor, service, engine } = options;
  const both = [vendor, service];
  const atOnce = askingAtOnce(engine.config.feedback.callsAtOnce);
  const readings = new Readings();
  // A job of another stage asks, or acts, only while the stage itself would.
  const isStopped = (stage: 'ask' | 'act') =>
    shared(async () => {
      const { queue } = jobs[stage];
      return (await Promise.all([options.pauses.stands(stage), queue.isPaused()])).includes(true);
    });
  const planning: Step<typeof PlanJob> = {
    process: planAndAsk(isStopped('ask'), readings, { asking: atOnce.planned }),
    giveUp: giveUpPlan,
    remedy: remedies.plan,
    endpoints: both,
    keepGivenUp: { isKept: ({ kind }) => kind !== 'closed' && kind !== 'revoked', forMs: context.keepMs },
    busyConcurrency: busyAtOnce,
  };
  const concurrency = engine.jobsAtOnce ?? atOnce.stage;
  const asking = { process: ask, giveUp: giveUpAsk, remedy: remedies.ask, endpoints: both, concurrency };
  const askingContext = { ...context, read: readings.reader(context.read) };
  const writing = {
    process: inItsTrace(context.answerRules.length === 0 ? writeBack : writeAndAct(isStopped('act')), engine.tracing),
    giveUp: giveUpWriteBack,
    onInterrupted: async ({ journeyId, lateWrite }: WriteBackJob) => {
      if (!lateWrite) await expectLateWrite(journeyId, context);
    },
    remedy: remedies.writeBack,
    endpoints: [vendor],
  };
  const acting = { process: act, giveUp: giveUpAct, remedy: remedies.act, endpoints: [vendor] };
  const erasing = { process: erase, giveUp: giveUpErase, remedy: remedies.erase, endpoints: both, concurrency: 1 };
  return {
    plan: createStage(jobs.plan, planning, options),
    ask: createStage(jobs.ask, asking, { ...options, context: askingContext }),
    writeBack: createStage(jobs.writeBack, writing, options),
    act: createStage(jobs.act, acting, options),
    erase: createStage(jobs.erase, erasing, options),
  };
}

/** In the trace of the delivery that began the journey: what brought the answer in is another's. */
function inItsTrace(write: ReturnType<typeof writeAndAct>, tracing: Tracing | undefined): typeof write {
  if (tracing === undefined) return write;
  return async (job, context) => {
    const of = (await context.store.get(job.journeyId))?.traceContext;
    return await tracing.span('write back', { source: context.name }, () => write(job, context), of);
  };
}

function createStage<Data extends z.ZodType>(
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
        return await untilMended(process(job, tellingOfCalls(context, arrived)), context);
      }),
    giveUp: async (job, why) => {
      // Alerted first: after a kill in between the alert is repeated, and equal alerts count as one.
      await alert('given-up', why, `mend the cause, then ${remedy(job)}`, journeysOf(job, source));
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

/** The same, which tells of each call of the vendor that a batch is made of once it is part of one. */
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

/** Those that a job names. */
function journeysOf(job: unknown, source: string): string[] {
  const named = z.object({ journeyId: z.string() }).safeParse(job);
  return named.success ? [refOf(source, named.data.journeyId)] : [];
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
    // With jitter, as each of these jobs may use its time up again.
    return { do: 'wait', delayMs: asideMs * (0.5 + ports.random()) };
  }
}

const replay = '"closeloop journeys replay"';
const replayEvent = '"closeloop events replay"';
const ofEvents: Record<PlanJob['kind'], string> = {
  closed: replay,
  changed: replayEvent,
  'external-grade': replayEvent,
  survey: replayEvent,
  revoked: 'give the access back and start again; there is nothing to replay',
};

/** What is left to do, the cause being mended, about a job of each stage that was given up. */
export const remedies = {
  plan: ({ kind }: PlanJob) => ofEvents[kind],
  ask: () => `${replay}, for parked ones "closeloop journeys resolve"`,
  writeBack: () => replay,
  act: () => replay,
  erase: () => '"closeloop contact erasures retry": whom it is about is kept, and it is tried again by itself as well',
};
