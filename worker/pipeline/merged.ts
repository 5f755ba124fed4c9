import { unaskedStates } from '../journey/transitions.ts';
import type { Queues } from './context.ts';
import { done, type JobResult, retryLater } from './jobs.ts';
import { type WithdrawContext, withdraw } from './withdraw.ts';

/**
 * Withdraws the unasked journeys of a record that was merged into another, and queues the remaining record to be planned. Answers
 * to journeys that have asked go to the remaining record. @param at when the event reported the merge
 */
export async function merged(
  recordId: string,
  into: string,
  at: Date,
  context: WithdrawContext & Pick<Queues, 'queueEvent'>,
): Promise<JobResult> {
  const { store, clock } = context;
  const remaining = await store.records.remainingOf(recordId, into);
  const why = `its record was merged into ${remaining}`;
  for (const journey of await store.records.journeysOf(recordId)) {
    if (journey.state === 'creating') return retryLater;
    if (unaskedStates.includes(journey.state)) {
      // Queued before withdrawing: after a kill in between the journey still waits, and both steps are repeated.
      await queueRemaining(recordId, remaining, at, context);
      if ((await withdraw(journey, why, context)) === 'asking') return retryLater;
      continue;
    }
    await store.update(journey.id, (now) =>
      now.currentId === remaining
        ? undefined
        : { journey: { ...now, currentId: remaining, updatedAt: clock.now() }, trace: [`${why}: answers go there`] },
    );
  }
  await store.records.merge(recordId, remaining);
  return done;
}

/** Queues the record that another record was merged into to be planned, as no event of that record may come. */
export async function queueRemaining(
  recordId: string,
  remaining: string,
  at: Date,
  { queueEvent }: Pick<Queues, 'queueEvent'>,
): Promise<void> {
  await queueEvent({
    kind: 'closed',
    recordId: remaining,
    at,
    key: `merged:${recordId}:${remaining}`,
    what: `${recordId} was merged into it`,
    receivedAt: new Date(),
  });
}
