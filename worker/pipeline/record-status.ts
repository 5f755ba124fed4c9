import type { PresentedRecord, ReadResult } from '../../core/connector/contract.ts';

/** What a read says about asking: the record, or the reason why nobody will be asked about it. */
export type RecordStatus =
  | { is: 'closed'; record: PresentedRecord; closing: string; closedAt: Date }
  | { is: 'open'; lookAgainAt?: Date }
  | { is: 'out'; why: string };

/** @throws the record's own error, for the queue to retry */
export function statusOf(result: ReadResult): RecordStatus {
  if (!result.ok) {
    if (result.why === 'error') throw result.error;
    return { is: 'out', why: 'the record does not exist (deleted, or not visible to this connection)' };
  }
  const { record } = result;
  if (record.state.is !== 'closed') return record.state;
  return { is: 'closed', record, closing: record.state.closing, closedAt: record.state.closedAt };
}
