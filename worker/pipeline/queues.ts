import { randomUUID } from 'node:crypto';
import type { ConnectionOptions } from 'bullmq';
import type { z } from 'zod';
import { isRecordEvent } from '../../core/connector/delivery.ts';
import type { RecordEvent, SourceEvent } from '../../core/connector/events.ts';
import type { Journey } from '../journey/journey.ts';
import type { Tracing } from '../operations/tracing.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { rateLimit } from '../redis/rate-limit.ts';
import type { Seal } from '../redis/seal.ts';
import { changeJobs } from './change-jobs.ts';
import type { Clock } from './clock.ts';
import { GroupCommit } from './group-commit.ts';
import { Claims, JobQueue } from './job-queue.ts';
import { ActJob, AskJob, EraseJob, type OwnEvent, PlanJob, WriteBackJob } from './jobs.ts';

/** The queues that deliveries are stored in. Their jobs hold personal data, so they are sealed. */
export interface IngestionQueues {
  plan: JobQueue<typeof PlanJob>;
  erase: JobQueue<typeof EraseJob>;
}

/** One source's queues, one for each step. Collecting has one queue for all sources (collect/schedule.ts). */
export interface JobQueues extends IngestionQueues {
  ask: JobQueue<typeof AskJob>;
  writeBack: JobQueue<typeof WriteBackJob>;
  act: JobQueue<typeof ActJob>;
}

interface OpenOptions {
  connection: ConnectionOptions;
  seal: Seal;
  tracing?: Tracing | undefined;
  onLost: (error: Error) => void;
}

export function openIngestionQueues(
  source: string,
  { connection, seal, tracing, onLost }: OpenOptions,
): IngestionQueues {
  const common = { prefix: tagOf(source), connection, seal, telemetry: tracing?.telemetry, onLost };
  return {
    plan: new JobQueue({
      ...common,
      name: 'plan',
      data: PlanJob,
      together: { keyOf: ({ key }) => key, idOf: (key) => jobIdOf(key, seal) },
    }),
    erase: new JobQueue({ ...common, name: 'erase', data: EraseJob }),
  };
}

export function openQueues(source: string, options: OpenOptions & { redis: RedisClient }): JobQueues {
  const { connection, tracing, onLost, redis } = options;
  const writeBack = { prefix: tagOf(source), name: 'write-back' };
  const common = { prefix: tagOf(source), connection, telemetry: tracing?.telemetry, onLost };
  return {
    ...openIngestionQueues(source, options),
    ask: new JobQueue({
      ...common,
      name: 'ask',
      data: AskJob,
      together: { keyOf: ({ journeyId }) => journeyId, idOf: (journeyId) => `ask-${journeyId}`, most: mostAsks },
    }),
    writeBack: new JobQueue({
      ...common,
      ...writeBack,
      data: WriteBackJob,
      together: {
        keyOf: ({ journeyId, noAnswer, lateWrite }) => {
          if (lateWrite) return `late-write ${journeyId}`;
          return noAnswer ? `no-answer ${journeyId}` : journeyId;
        },
        // Every job has a new id: BullMQ would not add a job with the id of a job that is about to end.
        idOf: () => `write-${randomUUID()}`,
        claims: new Claims(redis, writeBack),
        most: mostWrites,
      },
    }),
    act: new JobQueue({
      ...common,
      name: 'act',
      data: ActJob,
      together: {
        keyOf: ({ journeyId, version = 0 }) => `${journeyId}-${version}`,
        idOf: (key) => `act-${key}`,
        most: mostWrites,
      },
    }),
  };
}

/** The job id of an event: a digest of its key, as BullMQ forbids ':' and plain numbers in ids. */
export function jobIdOf(key: string, seal: Seal): string {
  return `event-${seal.digest(key)}`;
}

/** An event to queue. `delayMs` is real time. */
export interface DueEvent {
  event: Exclude<z.input<typeof PlanJob> | z.input<typeof EraseJob>, { kind: 'continue' }>;
  delayMs?: number;
}

/** Whether the event may share a job with other events. An event with personal data has a job of its own, which an erasure can change. */
export function mayShareJob(event: SourceEvent): event is RecordEvent {
  return isRecordEvent(event) && event.snapshot === undefined;
}

/** Queues events: events to plan in one write, erasures in another write. */
export async function addEvents(
  { plan, erase }: IngestionQueues,
  events: readonly DueEvent[],
  idOf: (key: string) => string,
): Promise<void> {
  const delayed = (delayMs = 0) => delayMs > 0 && { delayMs };
  await plan.add(
    events.flatMap(({ event, delayMs }) =>
      event.kind === 'erase' ? [] : [{ id: idOf(event.key), data: event, ...delayed(delayMs) }],
    ),
  );
  await erase.add(
    events.flatMap(({ event, delayMs }) =>
      event.kind === 'erase' ? [{ id: idOf(event.key), data: event, ...delayed(delayMs) }] : [],
    ),
  );
}

/** The delay of a "no answer" job: long enough for the sweep to mark the journey as expired. Real time. */
const noAnswerDelayMs = 1_000;
/** The most answers that one job writes or acts on: enough to fill a batch of most vendors, so that the batch need not wait for another job. */
const mostWrites = 100;
/** The most journeys that one job asks about: a stage runs several such jobs, so that there is no gap when a job ends. */
const mostAsks = 25;

/** Data of a job, and the time when it is due. */
interface Due<Data extends z.ZodType> {
  data: z.input<Data>;
  dueAt: Date;
}

/**
 * Queues due journeys, as one job for all journeys that are due within the same second: ten thousand may be due when a window opens. A job begins
 * when the last of its journeys is due.
 */
function dueTogether<Data extends z.ZodType>(jobs: JobQueue<Data>, clock: Clock): GroupCommit<Due<Data>> {
  return new GroupCommit({
    items: 500,
    size: Number.POSITIVE_INFINITY,
    sizeOf: () => 0,
    write: async (all) => {
      const bySecond = Map.groupBy(all, ({ dueAt }) => Math.ceil(dueAt.getTime() / 1_000));
      await Promise.all(
        [...bySecond.values()].map(async (some) => {
          const last = new Date(Math.max(...some.map(({ dueAt }) => dueAt.getTime())));
          const data = some.map((one) => one.data);
          await jobs.addTogether(data, clock.until(last));
        }),
      );
    },
  });
}

/** The functions by which steps queue jobs. Adding a job that is waiting or running does nothing. */
export type Queues = ReturnType<typeof createQueues>;

export function createQueues(
  source: string,
  jobs: JobQueues,
  { redis, seal, clock }: { redis: RedisClient; seal: Seal; clock: Clock },
) {
  const { plan, ask, erase } = jobs;
  const asks = dueTogether(ask, clock);
  /** Queues asking about a journey after a delay. Real time. */
  const queueAskIn = async (journeyId: string, delayMs: number): Promise<void> => {
    await ask.add([{ id: `ask-${journeyId}`, data: { journeyId }, delayMs }]);
  };
  return {
    /** Queues an event that closeloop found itself, like an event of a webhook. */
    queueEvent: async (event: OwnEvent, delayMs = 0): Promise<void> => {
      // A backfill's event may wait for days: a webhook's event about the same closing must not count as a repetition of the backfill's event.
      const prefix = event.kind === 'closed' && event.via === 'backfill' ? 'backfill-' : '';
      await plan.add([{ id: prefix + jobIdOf(event.key, seal), data: event, ...(delayMs > 0 && { delayMs }) }]);
    },
    /**
     * Changes the stored events that wait for planning or are being planned; undefined leaves an event as it is.
     * @returns ids of jobs that can't be read
     */
    changeEvents: async (change: (event: PlanJob) => Promise<PlanJob | undefined> | PlanJob | undefined) =>
      await changeJobs(plan, change),
    /** Queues the next attempt at an erasure. Real time. */
    queueErasure: async (id: string, delayMs: number): Promise<void> => {
      await erase.add([{ id: `erasure-${id}`, data: { kind: 'continue', erasure: id }, delayMs }]);
    },
    queueAsk: async ({ id }: Pick<Journey, 'id'>, dueAt: Date): Promise<void> =>
      await asks.add({ data: { journeyId: id }, dueAt }),
    queueAskIn,
    /** Queues a job beside the job that waits for the planned time; that job then finds nothing left to do. */
    queueAskAhead: async ({ id }: Pick<Journey, 'id'>, dueAt: Date): Promise<void> =>
      await ask.add([{ id: `ask-ahead-${id}`, data: { journeyId: id }, delayMs: clock.until(dueAt) }]),
    ...afterAnswers(jobs, clock),
    /** Paces the source's events. @returns milliseconds until it is this event's turn, 0 when it is now. Real time. */
    rateLimit: async (key: string, everyMs: number): Promise<number> =>
      await rateLimit(redis, `${tagOf(source)}:backfill`, seal.digest(key), { spacingMs: everyMs, now: Date.now() }),
  };
}

/** The functions by which steps queue jobs about an answer, or about a missing answer. */
function afterAnswers({ writeBack, act }: JobQueues, clock: Clock) {
  const acts = dueTogether(act, clock);
  return {
    queueWriteBack: async (journeyIds: readonly string[]): Promise<void> => {
      // One write at a time for each journey, as concurrent calls to the vendor may overtake each other.
      await writeBack.addWanted(journeyIds.map((journeyId) => ({ journeyId })));
    },
    /** Queues acting on a version of the answer. @param settledAt when the first of the answer rules has to judge the version */
    queueAct: async (journeyId: string, version: number, settledAt: Date): Promise<void> =>
      await acts.add({ data: { journeyId, version }, dueAt: settledAt }),
    /** Queues a write of "no answer", delayed until the journey has expired. */
    queueNoAnswer: async (journeyId: string): Promise<void> => {
      const delayMs = noAnswerDelayMs;
      await writeBack.add([{ id: `no-answer-${journeyId}`, data: { journeyId, noAnswer: true }, delayMs }]);
    },
    /** Queues a check after a write of unknown outcome: one check for all such writes of a slot. */
    queueLateWriteCheck: async (
      journeyId: string,
      { slot, delayMs }: { slot: number; delayMs: number },
    ): Promise<void> => {
      await writeBack.add([{ id: `late-write-${slot}-${journeyId}`, data: { journeyId, lateWrite: true }, delayMs }]);
    },
  };
}
