import type { ConnectionOptions } from 'bullmq';
import type { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { rateLimit } from '../redis/rate-limit.ts';
import type { Seal } from '../redis/seal.ts';
import type { Clock } from './clock.ts';
import { JobQueue } from './job-queue.ts';
import { AskJob, EraseJob, type OwnEvent, PlanJob, WriteBackJob } from './jobs.ts';

/** Where deliveries are stored. Their jobs name people: Redis holds them sealed. */
export interface InletQueues {
  plan: JobQueue<typeof PlanJob>;
  erase: JobQueue<typeof EraseJob>;
}

/** One source's queues, one for each step that works on a source by itself. */
export interface JobQueues extends InletQueues {
  ask: JobQueue<typeof AskJob>;
  writeBack: JobQueue<typeof WriteBackJob>;
}

interface OpenOptions {
  connection: ConnectionOptions;
  seal: Seal;
  onLost: (error: Error) => void;
}

export function openInletQueues(source: string, { connection, seal, onLost }: OpenOptions): InletQueues {
  const common = { prefix: tagOf(source), connection, seal, onLost };
  return {
    plan: new JobQueue({ ...common, name: 'plan', data: PlanJob }),
    erase: new JobQueue({ ...common, name: 'erase', data: EraseJob }),
  };
}

export function openQueues(source: string, options: OpenOptions): JobQueues {
  const { connection, onLost } = options;
  const common = { prefix: tagOf(source), connection, onLost };
  return {
    ...openInletQueues(source, options),
    ask: new JobQueue({ ...common, name: 'ask', data: AskJob }),
    writeBack: new JobQueue({ ...common, name: 'write-back', data: WriteBackJob }),
  };
}

/** BullMQ forbids ':' and plain numbers in ids; events' keys may hold anything. */
export function jobIdOf(key: string, seal: Seal): string {
  return `event-${seal.digest(key)}`;
}

/** An event as it is queued: with the other defaults of its job's schema. Real time. */
export interface DueEvent {
  event: Exclude<z.input<typeof PlanJob> | z.input<typeof EraseJob>, { kind: 'go-on' }>;
  delayMs?: number;
}

/** Stores what somebody has told of, each kind in one write. */
export async function addEvents(
  { plan, erase }: InletQueues,
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

/** Long enough for a journey to be marked as expired. Real time. */
const noAnswerDelayMs = 1_000;

/** Where the steps leave work for later. Adding a job that waits or runs already does nothing. */
export type Queues = ReturnType<typeof createQueues>;

export function createQueues(
  source: string,
  { plan, ask, writeBack, erase }: JobQueues,
  { redis, seal, clock }: { redis: RedisClient; seal: Seal; clock: Clock },
) {
  /** Real time. */
  const queueAskIn = async (journeyId: string, delayMs: number): Promise<void> => {
    await ask.add([{ id: `ask-${journeyId}`, data: { journeyId }, delayMs }]);
  };
  return {
    /** An event that closeloop found itself, as if a webhook had brought it. */
    queueEvent: async (event: OwnEvent, delayMs = 0): Promise<void> => {
      // A backfill's may wait for days, and a webhook of the same closing must not be taken for its repetition.
      const prefix = event.kind === 'closed' && event.via === 'backfill' ? 'backfill-' : '';
      await plan.add([{ id: prefix + jobIdOf(event.key, seal), data: event, ...(delayMs > 0 && { delayMs }) }]);
    },
    /**
     * What waits to be planned, or is being planned, as it should be stored from now on; undefined: as it is.
     * @returns ids of jobs that can't be read
     */
    changeEvents: async (change: (event: PlanJob) => Promise<PlanJob | undefined> | PlanJob | undefined) =>
      await plan.change(change),
    /** The next attempt at an erasure. Real time. */
    queueErasure: async (id: string, delayMs: number): Promise<void> => {
      await erase.add([{ id: `erasure-${id}`, data: { kind: 'go-on', erasure: id }, delayMs }]);
    },
    queueAsk: async (journeyId: string, dueAt: Date): Promise<void> => await queueAskIn(journeyId, clock.until(dueAt)),
    queueAskIn,
    queueWriteBack: async (journeyIds: readonly string[]): Promise<void> => {
      // One at a time for a journey: two writes on their way to the vendor could overtake each other.
      await writeBack.addAgain(journeyIds.map((journeyId) => ({ id: `write-${journeyId}`, data: { journeyId } })));
    },
    /** After a moment: the journey is about to expire. */
    queueNoAnswer: async (journeyId: string): Promise<void> => {
      const delayMs = noAnswerDelayMs;
      await writeBack.add([{ id: `no-answer-${journeyId}`, data: { journeyId, noAnswer: true }, delayMs }]);
    },
    /** One event after the other in the source. @returns milliseconds until this one's turn; 0: now, and it is used up. Real time. */
    rateLimit: async (key: string, everyMs: number): Promise<number> =>
      await rateLimit(redis, `${tagOf(source)}:backfill`, seal.digest(key), { spacingMs: everyMs, now: Date.now() }),
  };
}
