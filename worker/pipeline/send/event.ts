import { createHash } from 'node:crypto';
import type { Journey } from '../../journey/journey.ts';
import type { OutgoingEvent } from '../../journey/outgoing.ts';
import { currentRecordOf } from '../../journey/refs.ts';
import type { SendSource } from './send.ts';

/** The id of an event: equal for every attempt, and different from the id of every other event. */
export function idOf(
  { type, journeyId, at, version, rule }: OutgoingEvent,
  { storedAs }: Pick<SendSource, 'storedAs'>,
): string {
  const parts = JSON.stringify([storedAs, type, journeyId, at.getTime(), version, rule]);
  return `evt_${createHash('sha256').update(parts).digest('base64url').slice(0, 27)}`;
}

/**
 * The vendor's id of a journey's record, and where people see the record.
 * @param options `mayBePersonal`: gives the id even where the id is an address, for which closeloop stores a digest
 */
export async function recordPlaceOf(
  journey: Journey,
  { source }: Pick<SendSource, 'source'>,
  { mayBePersonal }: { mayBePersonal: boolean },
): Promise<{ record: string; url: string | undefined }> {
  const id = currentRecordOf(journey);
  if (source.vendorIds && !mayBePersonal) return { record: id, url: undefined };
  const [known = id] = (await source.vendorIds?.([id])) ?? [];
  return { record: known, url: source.recordUrl?.(known) };
}
