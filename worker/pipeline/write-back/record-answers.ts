import type { WriteBack } from '../../../core/connector/contract.ts';
import type { Journey } from '../../journey/journey.ts';
import { refOf } from '../../journey/refs.ts';
import { ifStill } from '../../journey/transitions.ts';
import type { Journeys, Named, Operations, Queues, Timing, Vendor } from '../context.ts';

// Several journeys may be about one record, which shows the latest answer of them.

/** What writing back takes of a source. */
export type WriteBackContext = Named &
  Timing &
  Vendor &
  Pick<Journeys, 'store' | 'erasures'> &
  Pick<Queues, 'queueWriteBack' | 'queueErasure'> &
  Pick<Operations, 'log' | 'alert'>;

/** What is told with any write about the journey. */
export function about(
  journey: Journey,
): Pick<WriteBack, 'recordId' | 'personId' | 'requestId' | 'campaign' | 'maxGrade'> {
  const { personId, requestId, maxGrade } = journey;
  return {
    recordId: journey.currentId ?? journey.recordId,
    ...(personId === undefined ? {} : { personId }),
    ...(requestId === undefined ? {} : { requestId }),
    campaign: journey.campaignName ?? `campaign ${journey.campaign}`,
    ...(maxGrade === undefined ? {} : { maxGrade }),
  };
}

/** `isNewer`: it is about a later closing. */
export type IsLater = (one: { other: Journey; isNewer: boolean }) => boolean;

/**
 * The record may have been asked about twice (`again: each closing`), or be what two were merged into: it shows the later
 * answer, whichever is written first.
 */
export async function laterAnswer(
  journey: Journey,
  context: WriteBackContext,
  isLater: IsLater,
): Promise<Journey | undefined> {
  const all = await context.store.records.journeysOf(about(journey).recordId);
  const own = all.findIndex(({ id }) => id === journey.id);
  return all.find(
    (other, n) =>
      n !== own && (other.state === 'answered' || other.state === 'written') && isLater({ other, isNewer: n > own }),
  );
}

export function leftTo(later: Journey, name: string): string {
  return `not written: the record has a later answer, of journey ${refOf(name, later.id)}`;
}

/**
 * A later answer that came while this journey's was on its way may lie under it now: it is written once more, also when it
 * is on its way itself (`isAsItWas`).
 */
export async function writeLaterAgain(journey: Journey, context: WriteBackContext, isLater: IsLater): Promise<void> {
  const later = await laterAnswer(journey, context, isLater);
  if (!later) return;
  const why = `to be written once more: what ${refOf(context.name, journey.id)} came to was written at the same time`;
  const after = await context.store.update(
    later.id,
    ifStill(['answered', 'written'], {
      to: 'answered',
      at: context.clock.now(),
      trace: [why],
      when: ({ answer, erasedAt }) => answer !== undefined && erasedAt === undefined,
    }),
  );
  if (after?.state === 'answered') await context.queueWriteBack([later.id]);
}
