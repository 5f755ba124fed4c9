import { z } from 'zod';
import type { ReadResult, RecordSnapshots, RecordState } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { listOf } from '../../core/entries.ts';

/**
 * A record as an event carried it: there is no API that reads it. The snapshot of an open record holds nothing but that, so that
 * personal data is stored only for records that lead or led to a question.
 */
export const RecordSnapshot = z.discriminatedUnion('state', [
  z.object({ state: z.literal('open') }),
  z.object({
    state: z.literal('closed'),
    closing: z.string(),
    closedAt: z.string(),
    personId: z.string().optional(),
    timeZone: z.string().optional(),
    country: z.string().optional(),
    region: z.string().optional(),
    locale: z.string().optional(),
    /** The person's. Erasures find the record by them. */
    contacts: listOf(z.string()).optional(),
    shape: z.record(z.string(), z.unknown()),
  }),
]);
export type RecordSnapshot = z.output<typeof RecordSnapshot>;

/** The newest snapshot, for planning and asking alike. */
export function reader(snapshots: RecordSnapshots) {
  return async (recordIds: readonly string[]): Promise<ReadResult[]> => {
    const all = await snapshots.of(recordIds);
    return recordIds.map((id, index) => {
      if (all[index] === undefined) return { ok: false, why: 'not-found' };
      const record = RecordSnapshot.parse(all[index]);
      if (record.state === 'open') {
        return { ok: true, record: { id, currentId: id, state: { is: 'open' }, shape: {} } };
      }
      const { closing, closedAt, shape, state: _, contacts: _1, ...person } = record;
      const state: RecordState = { is: 'closed', closing, closedAt: new Date(closedAt) };
      return { ok: true, record: { id, currentId: id, state, shape, ...customerOf(person) } };
    });
  };
}
