import type { Tracing } from '../operations/tracing.ts';
import { act, giveUpAct } from './act/act.ts';
import { ask, giveUpAsk } from './ask/ask.ts';
import { erase, giveUpErase } from './erase/erase.ts';
import type { ActJob, AskJob, EraseJob, PlanJob, WriteBackJob } from './jobs.ts';
import { giveUpPlan } from './plan/not-closed.ts';
import { isStageStopped, planAndAsk, Readings } from './plan-and-ask.ts';
import type { JobQueues } from './queues.ts';
import { createStage, type StagesOptions, type Step } from './source-stage.ts';
import type { Stage } from './stage.ts';
import { writeAndAct } from './write-and-act.ts';
import { expectLateWrite } from './write-back/latest-answer.ts';
import { giveUpWriteBack, writeBack } from './write-back/write-back.ts';

/** How many planning jobs run while the process is busy: two and a half batches, so that planning reads records while it asks about others. */
const busyAtOnce = 250;

/**
 * How many journeys ask at once in a process that may make `callsAtOnce` calls to the service: in the jobs that plan them, and in the asking
 * stage. More journeys would only wait in this process, while other processes could ask about them. The stage runs at least a vendor's batch.
 */
export function askingAtOnce(callsAtOnce: number): { planned: number; stage: number } {
  const planned = Math.ceil(2.5 * callsAtOnce);
  return { planned, stage: Math.max(100, planned) };
}

/** The stages of one source, one for each queue. */
export interface Stages {
  plan: Stage<typeof PlanJob>;
  ask: Stage<typeof AskJob>;
  writeBack: Stage<typeof WriteBackJob>;
  act: Stage<typeof ActJob>;
  erase: Stage<typeof EraseJob>;
}

/**
 * The stages whose jobs this process runs. A dry run has nothing to write back, and masks no contact: an erasure that was delivered to a dry
 * run waits for a process in earnest (sweeping.ts).
 */
export function worked(stages: Stages, { dryRun }: { dryRun: boolean }): Stages[keyof Stages][] {
  return dryRun ? [stages.plan, stages.ask] : Object.values(stages);
}

export function createStages(jobs: JobQueues, options: StagesOptions): Stages {
  const { context, vendor, service, engine } = options;
  const both = [vendor, service];
  const atOnce = askingAtOnce(engine.config.feedback.callsAtOnce);
  const readings = new Readings();
  // A job of another stage asks, or acts, only while the asking or acting stage itself is not stopped.
  const isStopped = (stage: 'ask' | 'act') => isStageStopped(options.pauses, stage, jobs[stage]);
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

/** Puts the write into the trace of the delivery that began the journey, and not into the trace of collecting. */
function inItsTrace(write: ReturnType<typeof writeAndAct>, tracing: Tracing | undefined): typeof write {
  if (tracing === undefined) return write;
  return async (job, context) => {
    const of = (await context.store.get(job.journeyId))?.traceContext;
    return await tracing.span('write back', { source: context.name }, () => write(job, context), of);
  };
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

/** The command for a person about a job of each stage that was given up, once the cause is mended. */
export const remedies = {
  plan: ({ kind }: PlanJob) => ofEvents[kind],
  ask: () => `${replay}, for parked ones "closeloop journeys resolve"`,
  writeBack: () => replay,
  act: () => replay,
  erase: () => '"closeloop contact erasures retry": whom it is about is kept, and it is tried again by itself as well',
};
