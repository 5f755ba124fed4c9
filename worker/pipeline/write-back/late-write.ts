import type { WriteBack, WriteResult } from '../../../core/connector/contract.ts';
import { outcomeOfError } from '../../../core/errors.ts';
import type { Ports } from '../../../core/ports.ts';
import type { Journey } from '../../journey/journey.ts';
import { done, type JobResult } from '../jobs.ts';
import type { Queues } from '../queues.ts';
import type { Vendor } from '../vendor.ts';
import { laterAnswer, type RecordContext, writeOnceMore } from './later-answer.ts';

/*
 * A vendor may carry out a write long after closeloop has given the call up: after a newer answer was written, or the person was
 * forgotten. Nothing tells of that, so the record is seen to once more as soon as no such write can come any more.
 */

/** As long as the gateways of most vendors keep a call. */
const usualLateMs = 5 * 60_000;

/** When writes that were given up in the same slot are seen to. */
export interface LateWriteCheck {
  slot: number;
  delayMs: number;
}

/** Pure. Writes of one slot share a check: there are two at most for a journey at a time, however often its writes are given up. */
export function lateWriteCheck(nowMs: number, lateMs = usualLateMs): LateWriteCheck {
  const slot = Math.floor(nowMs / lateMs) + 2;
  return { slot, delayMs: slot * lateMs - nowMs };
}

export interface Sending extends Pick<Queues, 'queueLateWriteCheck'>, Pick<Vendor, 'source' | 'write'> {
  ports: Pick<Ports, 'now'>;
}

/** Sends an answer. Of a write whose outcome is unknown a check is queued before anything else is done about the failure. */
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

/** A write about the journey may still be carried out: its response was lost, or its process was killed. */
export async function expectLateWrite(
  journeyId: string,
  { source, ports, queueLateWriteCheck }: Omit<Sending, 'write'>,
): Promise<void> {
  await queueLateWriteCheck(journeyId, lateWriteCheck(ports.now().getTime(), source.lateWriteMs));
}

/** No write that was given up can be carried out any more: the vendor is sent once more what the record has to show. */
export async function checkLateWrite(journey: Journey, context: RecordContext): Promise<JobResult> {
  await writeOnceMore((await laterAnswer(journey, context)) ?? journey, 'an attempt that was given up', context);
  return done;
}
