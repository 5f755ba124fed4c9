import type { Source } from '../../core/connector/contract.ts';

export type RecordPlaces = Pick<Source, 'recordUrl' | 'vendorIds'>;

/** Where people see a record, for whoever is given no contacts: nowhere where closeloop has digests in place of ids that are addresses. */
export function addressOf(recordId: string, source: RecordPlaces): string | undefined {
  return source.vendorIds ? undefined : source.recordUrl?.(recordId);
}
