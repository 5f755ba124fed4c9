import type { Source } from '../../core/connector/contract.ts';

export type RecordPlaces = Pick<Source, 'recordUrl' | 'vendorIds'>;

/** The address of a record at the vendor, for readers who may see no contacts: undefined if closeloop has digests in place of ids that are addresses. */
export function addressOf(recordId: string, source: RecordPlaces): string | undefined {
  return source.vendorIds ? undefined : source.recordUrl?.(recordId);
}
