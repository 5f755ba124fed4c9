import type { Journey } from '../../journey/journey.ts';
import { refOf } from '../../journey/refs.ts';
import type { Journeys, Named, Operations } from '../context.ts';
import type { RecordJob } from '../jobs.ts';

type CreateContext = Named & Pick<Journeys, 'store'> & Pick<Operations, 'log' | 'missed'>;

/** The one journey of this closing: made now (`created`), or found. */
export async function getOrCreateJourney(
  event: RecordJob,
  closing: { recordId: string; closing: string; closedAt: Date },
  context: CreateContext,
): Promise<{ journey: Journey; created: boolean }> {
  const { key: eventKey, receivedAt, via } = event;
  const found =
    via === 'poll' ? ', found by the poll: no webhook had told of it' : via === 'backfill' ? ', backfill' : '';
  const result = await context.store.getOrCreate({ ...closing, eventKey, receivedAt }, [
    `received ${receivedAt.toISOString()}: ${event.what}, at ${event.at.toISOString()}${found}`,
  ]);
  if (result.created) {
    const ref = refOf(context.name, result.journey.id);
    context.log.info({ journey: ref, event: event.what }, 'received');
    if (via === 'poll') await context.missed(ref, event.at);
  }
  return result;
}
