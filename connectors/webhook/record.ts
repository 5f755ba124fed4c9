import { z } from 'zod';
import type { ReadResult, RecordSnapshots, RecordState, Source } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { listOf } from '../../core/entries.ts';
import { isDigest, type NameOf, recordIdFrom } from './record-id.ts';

/** The record's id as the sender wrote it; left out if the event carries the same id. */
const sender = z.string().optional();

/**
 * A record as an event carried it, because no API can read the record. The snapshot of an open record has only its state and the sender's id,
 * so that closeloop stores personal data only of records that lead or led to a feedback request.
 */
export const RecordSnapshot = z.discriminatedUnion('state', [
  z.object({ state: z.literal('open'), sender }),
  z.object({
    state: z.literal('closed'),
    sender,
    closing: z.string(),
    closedAt: z.string(),
    personId: z.string().optional(),
    timeZone: z.string().optional(),
    country: z.string().optional(),
    region: z.string().optional(),
    locale: z.string().optional(),
    /** The person's contacts, by which erasures find the record. */
    contacts: listOf(z.string()).optional(),
    shape: z.record(z.string(), z.unknown()),
  }),
]);
export type RecordSnapshot = z.output<typeof RecordSnapshot>;

/** Reads the newest snapshot, for planning and for asking. */
export function reader(snapshots: RecordSnapshots) {
  return async (recordIds: readonly string[]): Promise<ReadResult[]> => {
    const all = await snapshots.of(recordIds);
    return recordIds.map((id, index) => {
      if (all[index] === undefined) return { ok: false, why: 'not-found' };
      const record = RecordSnapshot.parse(all[index]);
      if (record.state === 'open') {
        return { ok: true, record: { id, currentId: id, state: { is: 'open' }, shape: {} } };
      }
      const { closing, closedAt, shape, state: _, contacts: _1, sender: _2, ...person } = record;
      const state: RecordState = { is: 'closed', closing, closedAt: new Date(closedAt) };
      return { ok: true, record: { id, currentId: id, state, shape, ...customerOf(person) } };
    });
  };
}

export type SenderIds = NonNullable<Source['vendorIds']>;

/** The sender's own ids from the snapshots; undefined if the person was erased. */
export function senderIds(snapshots: RecordSnapshots, nameOf: NameOf): SenderIds {
  return async (recordIds) => {
    if (!recordIds.some(isDigest)) return [...recordIds];
    const all = await snapshots.of(recordIds);
    return recordIds.map((id, i) => {
      if (!isDigest(id)) return id;
      const known = recordIdFrom(RecordSnapshot.safeParse(all[i]).data?.sender ?? '');
      // An erasure may have removed another person's address from the snapshot: the remaining text is not the sender's id.
      return known !== undefined && nameOf(known) === id ? known : undefined;
    });
  };
}
