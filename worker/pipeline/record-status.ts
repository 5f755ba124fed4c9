import type { PresentedRecord, ReadResult } from '../../core/connector/contract.ts';

/** A record as asking sees it: closed, open, or gone, with the reason why nobody is asked. */
export type RecordStatus =
  | { is: 'closed'; record: PresentedRecord; closing: string; closedAt: Date }
  | { is: 'open'; readAgainAt?: Date; record: PresentedRecord }
  | { is: 'out'; why: string; record: PresentedRecord | undefined };

/** @throws the record's own error, for the queue to retry */
export function statusOf(result: ReadResult): RecordStatus {
  if (!result.ok) {
    if (result.why === 'error') throw result.error;
    return {
      is: 'out',
      why: 'the record does not exist (deleted, or not visible to this connection)',
      record: undefined,
    };
  }
  const { record } = result;
  if (record.state.is !== 'closed') return { ...record.state, record };
  return { is: 'closed', record, closing: record.state.closing, closedAt: record.state.closedAt };
}
