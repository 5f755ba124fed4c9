import { unaskedStates } from '../../journey/transitions.ts';
import type { Queues } from '../context.ts';
import { done, type JobResult, retryLater } from '../jobs.ts';
import { type WithdrawContext, withdraw } from '../withdraw.ts';

/**
 * Nobody is asked about a record that is no more: where somebody was to be, the one it became is looked at in its place. What
 * has been asked is answered there. @param at when the merge was told
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
      // First: a process killed in between finds the journey still waiting, and does both.
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

/** What a record became is looked at, and decided about, by itself: no event may tell of it. */
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
