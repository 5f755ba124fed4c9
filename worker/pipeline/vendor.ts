import type { PresentedRecord, ReadResult, Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { RecordAliases } from '../journey/aliases.ts';
import type { SnapshotStore } from '../journey/snapshots.ts';
import type { Outage } from '../operations/outage.ts';
import { createBatcher } from './batch.ts';
import type { EngineOptions } from './engine-options.ts';
import { openSource } from './open-source.ts';
import type { JobQueues } from './queues.ts';

/** A record as asking sees it: closed, open, or gone, with the reason why nobody is asked. */
export type RecordStatus =
  | { is: 'closed'; record: PresentedRecord; closing: string; closedAt: Date }
  | { is: 'open'; readAgainAt?: Date; record: PresentedRecord }
  | { is: 'out'; why: string; record: PresentedRecord | undefined };

/** The vendor's account, as the steps use it. Concurrent jobs share calls. */
export interface Vendor {
  source: Source;
  /** @throws the record's own error, for the queue to retry */
  read(recordId: string, purpose: 'plan' | 'ask'): Promise<RecordStatus>;
  write(item: WriteBack): Promise<WriteResult>;
}

const defaultBatchWindowMs = 500;

/** Opens a configured source, which is used by its records' aliases. `outage`: whether the vendor is down. */
export function openVendor(
  configured: ConfiguredSource,
  jobs: JobQueues,
  known: { snapshots: SnapshotStore; aliases: RecordAliases },
  options: EngineOptions,
): Vendor & { outage: Outage } {
  const { batchWindowMs: windowMs = defaultBatchWindowMs } = options;
  const { source, outage } = openSource(configured, known, options);
  const batch = { size: source.batchSize, windowMs };
  const whole = { read: wholeCalls(), write: wholeCalls() };
  const reader = (purpose: 'plan' | 'ask') =>
    createBatcher({
      ...batch,
      keyOf: (id: string) => id,
      run: (ids: readonly string[]) => whole.read(source.read(ids, purpose), ids.length),
      mayGrow: () => jobs[purpose].hasMore(),
    });
  const readers = { plan: reader('plan'), ask: reader('ask') };
  const write = createBatcher({
    ...batch,
    keyOf: ({ marker }: WriteBack) => marker,
    run: (items: readonly WriteBack[]) => whole.write(source.writeBack(items), items.length),
    mayGrow: () => jobs.writeBack.hasMore(),
  });
  return { source, read: async (recordId, purpose) => statusOf(await readers[purpose](recordId)), write, outage };
}

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

/**
 * A refused record has an error in its own result. A call for several records that fails as a whole, permanently, is the source's
 * fault: the source is stopped when that repeats. A call for one record is the source's fault only if calls for several records have
 * failed since the last success.
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
