import type { Source, WriteBack } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { createBatcher } from './batch.ts';
import type { Vendor } from './context.ts';

/**
 * Reads and writes records, those of concurrent jobs in one call of the vendor's.
 * @param hasMore are there jobs of this stage that have not begun yet, whose records may join?
 */
export function createVendorCalls(
  source: Source,
  windowMs: number,
  hasMore: (stage: 'plan' | 'ask' | 'writeBack') => Promise<boolean>,
): Pick<Vendor, 'read' | 'write'> {
  const batch = { size: source.batchSize, windowMs };
  const whole = { read: wholeCalls(), write: wholeCalls() };
  const reader = (purpose: 'plan' | 'ask') =>
    createBatcher({
      ...batch,
      keyOf: (id: string) => id,
      run: (ids: readonly string[]) => whole.read(source.read(ids, purpose), ids.length),
      mayGrow: () => hasMore(purpose),
    });
  const readers = { plan: reader('plan'), ask: reader('ask') };
  return {
    read: (recordId, purpose) => readers[purpose](recordId),
    write: createBatcher({
      ...batch,
      keyOf: ({ marker }: WriteBack) => marker,
      run: (items: readonly WriteBack[]) => whole.write(source.writeBack(items), items.length),
      mayGrow: () => hasMore('writeBack'),
    }),
  };
}

/**
 * What a record is refused for stands in its own result. A call that fails whole for good says nothing about any of several
 * records: the source is stopped when it stays so. Of one alone that can't be told, unless several have failed since a call
 * went well.
 */
function wholeCalls() {
  let isSourceAtFault = false;
  return async <T>(call: Promise<T>, records: number): Promise<T> => {
    try {
      const results = await call;
      isSourceAtFault = false;
      return results;
    } catch (error) {
      if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
      isSourceAtFault ||= records > 1;
      const kind = isSourceAtFault ? 'config' : 'permanent';
      const { outcome, reference } = error;
      throw new CloseloopError(error.message, { kind, doubtful: true }, { outcome, reference, cause: error });
    }
  };
}
