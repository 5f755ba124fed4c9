import type { WriteBack, WriteResult } from '../../../core/connector/contract.ts';
import { outcomeOfError } from '../../../core/errors.ts';
import type { Ports } from '../../../core/ports.ts';
import type { Journey } from '../../journey/journey.ts';
import { currentRecordOf, refOf } from '../../journey/refs.ts';
import type { JourneyStore } from '../../journey/store.ts';
import { ifStill } from '../../journey/transitions.ts';
import type { Clock } from '../clock.ts';
import { done, type JobResult } from '../jobs.ts';
import type { Queues } from '../queues.ts';
import type { Vendor } from '../vendor.ts';

/*
 * Several journeys may be about one record, which shows the latest of their answers.
 *
 * A vendor may carry out a write long after closeloop has given the call up: after a newer answer was written, or the person was
 * erased. closeloop gets no notice of such a write, so it checks the record once more as soon as no such write can come any more.
 */

export interface RecordContext extends Pick<Queues, 'queueWriteBack'> {
  name: string;
  store: JourneyStore;
  clock: Clock;
}

/** The fields that every write about the journey has. */
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
  // This journey has no answer: a later closing's answer counts.
  if (answer === undefined) return isNewer;
  const ms = (other.answer?.seenAt.getTime() ?? 0) - answer.seenAt.getTime();
  return ms > 0 || (ms === 0 && isNewer);
}

/**
 * Another journey of the record with a later answer, if any. A record has several journeys after several closings (`again: each
 * closing`) or a merge, and shows the latest answer, in whatever order the answers are written.
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

/**
 * Queues a later answer to be written again: this journey's write may have overwritten the later answer.
 * @returns the journey of the later answer, if there is one
 */
export async function writeLaterAgain(journey: Journey, context: RecordContext): Promise<Journey | undefined> {
  const later = await laterAnswer(journey, context);
  if (later) await writeOnceMore(later, `what ${refOf(context.name, journey.id)} came to`, context);
  return later;
}

/**
 * Queues another write of the answer that the record should show. If the answer is being written at the moment, the result of that attempt is
 * not saved.
 * @param what the write that may have overwritten the answer, in words for the trace
 */
async function writeOnceMore(shown: Journey, what: string, context: RecordContext): Promise<void> {
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

/** Whether the journey is unchanged since it was read: no other answer, no merge, no write over its answer. */
export function isAsItWas(now: Journey, before: Journey): boolean {
  return now.answer?.version === before.answer?.version && now.updatedAt.getTime() === before.updatedAt.getTime();
}

/** The time for which the gateways of most vendors keep a call. */
const usualLateMs = 5 * 60_000;

export interface Sending extends Pick<Queues, 'queueLateWriteCheck'>, Pick<Vendor, 'source' | 'write'> {
  ports: Pick<Ports, 'now'>;
}

/** Sends an answer. If the outcome is unknown, a check is queued before any other step about the failure. */
export async function send(journeyId: string, item: WriteBack, context: Sending): Promise<WriteResult> {
  try {
    const result = await context.write(item);
    if (!result.ok && result.why === 'error' && outcomeOfError(result.error) === 'unknown')
      await expectLateWrite(journeyId, context);
    return result;
  } catch (error) {
    if (outcomeOfError(error) === 'unknown') await expectLateWrite(journeyId, context);
    throw error;
  }
}

/**
 * Queues a check of a write that the vendor may still carry out: its response was lost, or its process was killed. Writes within one slot of time
 * share a check, so that a journey has at most two checks at a time, however often its writes are given up.
 */
export async function expectLateWrite(
  journeyId: string,
  { source, ports, queueLateWriteCheck }: Omit<Sending, 'write'>,
): Promise<void> {
  const { lateWriteMs = usualLateMs } = source;
  const nowMs = ports.now().getTime();
  const slot = Math.floor(nowMs / lateWriteMs) + 2;
  await queueLateWriteCheck(journeyId, { slot, delayMs: slot * lateWriteMs - nowMs });
}

/** Called when the vendor can't carry out a write any more that was given up: queues another write of the answer that the record should show. */
export async function checkLateWrite(journey: Journey, context: RecordContext): Promise<JobResult> {
  await writeOnceMore((await laterAnswer(journey, context)) ?? journey, 'an attempt that was given up', context);
  return done;
}
