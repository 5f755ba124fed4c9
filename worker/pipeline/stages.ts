import type { ConnectionOptions } from 'bullmq';
import type { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import { failpoint } from '../operations/failpoints.ts';
import type { Holds } from '../operations/holds.ts';
import type { Outage } from '../operations/outage.ts';
import type { Pauses } from '../operations/pauses.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import type { SourceNames } from '../redis/source-names.ts';
import { probe } from '../redis/unavailable.ts';
import { ask, giveUpAsk } from './ask/ask.ts';
import type { SourceContext } from './context.ts';
import { erase, giveUpErase } from './erase/erase.ts';
import { AskJob, EraseJob, type JobResult, PlanJob, retryLater, WriteBackJob } from './jobs.ts';
import { giveUpPlan, plan } from './plan/plan.ts';
import type { Quarantine } from './quarantine.ts';
import { foreignRemedy, remedies } from './remedies.ts';
import { untilMended } from './set-aside.ts';
import { Stage, type StageOptions } from './stage.ts';
import { giveUpWriteBack, writeBack } from './write-back/write-back.ts';

/** Jobs of one stage at once: ten full vendor batches, so that a thousand records arriving together stay together. */
const concurrency = 1_000;

/** One source's queues with what works on them. */
export interface Stages {
  plan: Stage<typeof PlanJob>;
  ask: Stage<typeof AskJob>;
  writeBack: Stage<typeof WriteBackJob>;
  erase: Stage<typeof EraseJob>;
}

interface StagesOptions {
  context: SourceContext;
  redis: RedisClient;
  connection: ConnectionOptions;
  names: SourceNames;
  pauses: Pauses;
  holds: Holds;
  vendor: Outage;
  service: Outage;
  quarantine?: Quarantine | undefined;
  onLost: (error: Error) => void;
}

/** What a step of the pipeline does with a job, and when no further attempt will be made. */
interface Step<Data extends z.ZodType> {
  name: 'plan' | 'ask' | 'write-back' | 'erase';
  data: Data;
  process: (job: z.output<Data>, context: SourceContext) => Promise<JobResult>;
  giveUp: (job: z.output<Data>, why: string, context: SourceContext) => Promise<void>;
  /** What is left for a person to do about a job that was given up, once its cause is mended. */
  remedy: (job: z.output<Data>) => string;
}

export function createStages(options: StagesOptions): Stages {
  const { context, vendor, service } = options;
  const { seal, keepMs } = context;
  const both = [vendor, service];
  return {
    plan: createStage(
      { name: 'plan', data: PlanJob, process: plan, giveUp: giveUpPlan, remedy: remedies.plan },
      {
        endpoints: both,
        seal,
        keepGivenUp: { isKept: ({ kind }) => kind !== 'closed' && kind !== 'revoked', forMs: keepMs },
      },
      options,
    ),
    ask: createStage(
      { name: 'ask', data: AskJob, process: ask, giveUp: giveUpAsk, remedy: remedies.ask },
      { endpoints: both },
      options,
    ),
    writeBack: createStage(
      {
        name: 'write-back',
        data: WriteBackJob,
        process: writeBack,
        giveUp: giveUpWriteBack,
        remedy: remedies.writeBack,
      },
      { endpoints: [vendor] },
      options,
    ),
    erase: createStage(
      { name: 'erase', data: EraseJob, process: erase, giveUp: giveUpErase, remedy: remedies.erase },
      { endpoints: both, concurrency: 1, seal },
      options,
    ),
  };
}

function createStage<Data extends z.ZodType>(
  { name, data, process, giveUp, remedy }: Step<Data>,
  own: Pick<StageOptions<Data>, 'endpoints' | 'keepGivenUp' | 'seal'> & { concurrency?: number },
  { context, redis, connection, names, pauses, holds, quarantine, onLost }: StagesOptions,
): Stage<Data> {
  const { name: source, retryForMs, ports, log } = context;
  // An erasure goes over all sources, and must find everybody in their place.
  const isGated = async () => (await names.isGated(source)) || (name === 'erase' && (await names.isAnyMoving()));
  /** @throws CloseloopError config while it may be another source under a new name: newcomers.ts */
  const mayBegin = async (): Promise<void> => {
    const why = name === 'plan' ? await names.newcomer(source) : undefined;
    if (why !== undefined) throw new CloseloopError(why, { kind: 'config' });
  };
  return new Stage({
    concurrency,
    ...own,
    name,
    source,
    prefix: tagOf(source),
    connection,
    data,
    process: async (job) => {
      // Its source is being renamed, or has another name now: the job waits, and is moved with it.
      if (await isGated()) return retryLater;
      await mayBegin();
      if (name !== 'erase') failpoint(`${name}-begun`);
      return await untilMended(process(job, context), context);
    },
    giveUp: async (job, why) => {
      // Told first: who is killed in between tells it twice, and equal alerts are one.
      await context.alert('given-up', why, `mend the cause, then ${remedy(job)}`);
      await giveUp(job, why, context);
    },
    onConfigError: (why) => pauses.set(name, why),
    onForeign: (why) => context.alert('to-do', `stage ${name}: ${why}`, foreignRemedy),
    probe: () => probe(redis, tagOf(source)),
    onLost,
    ports,
    log,
    holds,
    retryForMs,
    ...(quarantine && { quarantine }),
  });
}
