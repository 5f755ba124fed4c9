import { unaskedStates } from '../../journey/transitions.ts';
import { done, type JobResult, retryLater } from '../jobs.ts';
import { type WithdrawContext, withdraw } from '../withdraw.ts';

/** Nobody is asked about a record that is no more; what has been asked is answered on the one it became. */
export async function merged(recordId: string, into: string, context: WithdrawContext): Promise<JobResult> {
  const { store, clock } = context;
  const remaining = await store.remainingOf(recordId, into);
  const why = `its record was merged into ${remaining}`;
  for (const journey of await store.ofRecord(recordId)) {
    if (journey.state === 'creating') return retryLater;
    if (unaskedStates.includes(journey.state)) {
      if ((await withdraw(journey, why, context)) === 'asking') return retryLater;
      continue;
    }
    await store.update(journey.id, (now) =>
      now.currentId === remaining
        ? undefined
        : { journey: { ...now, currentId: remaining, updatedAt: clock.now() }, trace: [`${why}: answers go there`] },
    );
  }
  await store.merge(recordId, remaining);
  return done;
}
