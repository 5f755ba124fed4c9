import type { WriteBack } from '../../../core/connector/contract.ts';
import type { Journey } from '../../journey/journey.ts';
import { currentRecordOf, refOf } from '../../journey/refs.ts';
import type { JourneyStore } from '../../journey/store.ts';
import { ifStill } from '../../journey/transitions.ts';
import type { Clock } from '../clock.ts';
import type { Queues } from '../queues.ts';

/* Several journeys may be about one record, which shows the latest of their answers. */

export interface RecordContext extends Pick<Queues, 'queueWriteBack'> {
  name: string;
  store: JourneyStore;
  clock: Clock;
}

/** What every write about the journey has. */
export function about(
  journey: Journey,
): Pick<WriteBack, 'recordId' | 'personId' | 'requestId' | 'campaign' | 'maxGrade'> {
  const { personId, requestId, maxGrade } = journey;
  return {
    recordId: currentRecordOf(journey),
    ...(personId === undefined ? {} : { personId }),
    ...(requestId === undefined ? {} : { requestId }),
    campaign: journey.campaignName ?? `campaign ${journey.campaign}`,
    ...(maxGrade === undefined ? {} : { maxGrade }),
  };
}

/** Whether another journey's answer counts more than this journey's: `isNewer`, it is about a later closing. */
function isLater({ answer }: Journey, { other, isNewer }: { other: Journey; isNewer: boolean }): boolean {
  // Nobody answered: a later closing's answer stands.
  if (answer === undefined) return isNewer;
  const ms = (other.answer?.seenAt.getTime() ?? 0) - answer.seenAt.getTime();
  return ms > 0 || (ms === 0 && isNewer);
}

/**
 * Another journey of the record with a later answer, if any. A record has several journeys after several closings (`again: each
 * closing`) or a merge, and shows the latest answer, whichever is written first.
 */
export async function laterAnswer(
  journey: Journey,
  { store }: Pick<RecordContext, 'store'>,
): Promise<Journey | undefined> {
  const record = await store.records.read(about(journey).recordId);
  const others = await record.others(journey.id);
  return others.find((one) => isShown(one.other) && isLater(journey, one))?.other;
}

/** Whether the record shows the journey's answer, wholly or in part, or is about to. */
function isShown({ state, answer, writtenVersion }: Journey): boolean {
  if (state === 'parked') return answer !== undefined && writtenVersion === answer.version;
  return state === 'answered' || state === 'written';
}

export function leftTo(later: Journey, name: string): string {
  return `the record has a later answer, of journey ${refOf(name, later.id)}`;
}

/** Queues a later answer to be written again: this journey's write may have overwritten the later answer. */
export async function writeLaterAgain(journey: Journey, context: RecordContext): Promise<void> {
  const later = await laterAnswer(journey, context);
  if (later) await writeOnceMore(later, `what ${refOf(context.name, journey.id)} came to`, context);
}

/**
 * Queues the answer that the record shows to be written once more. Also while the answer is being written: what that attempt comes to is
 * not saved then.
 * @param what may have been put over the answer, in words for the trace
 */
export async function writeOnceMore(shown: Journey, what: string, context: RecordContext): Promise<void> {
  const after = await context.store.update(
    shown,
    ifStill(['answered', 'written', 'parked'], {
      to: 'answered',
      at: context.clock.now(),
      trace: [`to be written once more: ${what} may have been written since`],
      when: (now) => now.answer !== undefined && isShown(now),
    }),
  );
  if (after?.state === 'answered') await context.queueWriteBack([shown.id]);
}
