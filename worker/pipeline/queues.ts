import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { untilTurn } from '../redis/rate-limit.ts';
import type { Seal } from '../redis/seal.ts';
import type { Clock } from './clock.ts';
import type { Queues } from './context.ts';
import { changeJobs } from './erase/change-jobs.ts';
import { PlanJob } from './jobs.ts';
import type { PolledEvent } from './plan/poll.ts';
import type { Stages } from './stages.ts';

/** Long enough for a journey to be marked as expired. Real time. */
const noAnswerDelayMs = 1_000;

/** BullMQ forbids ':' and plain numbers in ids; events' keys may hold anything. */
export function jobIdOf(key: string, seal: Seal): string {
  return `event-${seal.digest(key)}`;
}

/** @param stages asked for each time, as the stages' own work adds to them */
export function createQueues(
  source: string,
  stages: () => Stages,
  { redis, seal, clock }: { redis: RedisClient; seal: Seal; clock: Clock },
): Queues {
  return {
    queueEvent: async (event, delayMs = 0) => {
      // A backfill's may wait for days, and a webhook of the same closing must not be taken for its repetition.
      const id = `${event.kind === 'closed' && event.via === 'backfill' ? 'backfill-' : ''}${jobIdOf(event.key, seal)}`;
      await stages().plan.add([{ id, data: event, ...(delayMs > 0 && { delayMs }) }]);
    },
    changeEvents: (change) => changeJobs(stages().plan, PlanJob, change),
    queueErasure: async (id, delayMs) => {
      await stages().erase.add([{ id: `erasure-${id}`, data: { kind: 'go-on', erasure: id }, delayMs }]);
    },
    queueAsk: async (journeyId, dueAt) => {
      await stages().ask.add([{ id: `ask-${journeyId}`, data: { journeyId }, delayMs: clock.until(dueAt) }]);
    },
    queueNoAnswer: async (journeyId) => {
      const delayMs = noAnswerDelayMs;
      await stages().writeBack.add([{ id: `no-answer-${journeyId}`, data: { journeyId, noAnswer: true }, delayMs }]);
    },
    queueWriteBack: async (journeyIds) => {
      if (journeyIds.length === 0) return;
      // One at a time for a journey: two writes on their way to the vendor could overtake each other.
      await stages().writeBack.addAgain(
        journeyIds.map((journeyId) => ({ id: `write-${journeyId}`, data: { journeyId } })),
      );
    },
    untilTurn: (key, spacingMs) =>
      untilTurn(redis, `${tagOf(source)}:backfill`, seal.digest(key), { spacingMs, now: Date.now() }),
  };
}

/** What a poll has found, under ids of their own: a webhook of the same closing must not be taken for its repetition. */
export async function queuePolled(
  found: readonly PolledEvent[],
  { plan, erase }: Pick<Stages, 'plan' | 'erase'>,
  seal: Seal,
): Promise<void> {
  const jobOf = <Event extends { key: string }>(event: Event, delayMs: number) => ({
    id: `poll-${jobIdOf(event.key, seal)}`,
    data: event,
    ...(delayMs > 0 && { delayMs }),
  });
  await plan.add(found.flatMap(({ event, delayMs }) => (event.kind === 'erase' ? [] : [jobOf(event, delayMs)])));
  await erase.add(found.flatMap(({ event, delayMs }) => (event.kind === 'erase' ? [jobOf(event, delayMs)] : [])));
}
