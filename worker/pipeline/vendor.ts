import type { PresentedRecord, ReadResult, Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { RecordAliases } from '../journey/aliases.ts';
import type { SnapshotStore } from '../journey/snapshots.ts';
import { unobserved } from '../operations/observer.ts';
import { Outage, vendorEndpoint } from '../operations/outage.ts';
import { watchCalls } from '../operations/watched-calls.ts';
import { createBudget } from '../redis/budget.ts';
import { isDryRun, nameInEarnest, tagOf } from '../redis/keys.ts';
import { createVault } from '../redis/vault.ts';
import { aliasedSource, snapshotsByIds } from '../sources/aliased-source.ts';
import { createBatcher } from './batch.ts';
import type { EngineOptions } from './engine-options.ts';
import type { JobQueues } from './queues.ts';
import { readingVendor } from './reading-only.ts';

/** The vendor's account, as the steps use it. Concurrent jobs share calls. */
export interface Vendor {
  source: Source;
  /** @throws the record's own error, for the queue to retry */
  read(recordId: string, purpose: 'plan' | 'ask'): Promise<RecordStatus>;
  write(item: WriteBack): Promise<WriteResult>;
}

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

const defaultBatchWindowMs = 500;

/** Opens a configured source, which is used by its records' aliases. `outage`: whether the vendor is down. */
export function openVendor(
  configured: ConfiguredSource,
  jobs: JobQueues,
  known: { snapshots: SnapshotStore; aliases: RecordAliases },
  options: EngineOptions,
): Vendor & { outage: Outage } {
  const { redis, log, batchWindowMs: windowMs = defaultBatchWindowMs, observer = unobserved } = options;
  const { name } = configured;
  const outage = new Outage(redis, { ...vendorEndpoint(name), log });
  const watched = watchCalls(openSource(configured, known, options), outage, {
    isShared: false,
    // These look at a delivery: that one came in says nothing of the vendor's API.
    local: ['handshake', 'verify', 'events'],
    onCall: (operation, end) => observer.vendorCall(name, operation, end),
  });
  const source = isDryRun(name) ? readingVendor(watched) : watched;
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

/** With the budget of its vendor's account and its stored secrets. */
function openSource(
  { name: stored, connector, account, open }: ConfiguredSource,
  known: { snapshots: SnapshotStore; aliases: RecordAliases },
  { config, redis, seal, ports, log, vendorTime = { now: () => new Date(), sleep: ports.sleep } }: EngineOptions,
): Source {
  // The vendor's account has one quota and one set of secrets, whoever calls it, and knows closeloop by one address.
  const name = nameInEarnest(stored);
  const budget = createBudget(
    redis,
    { account: account === undefined ? name : `${connector.name}:${account}` },
    vendorTime,
  );
  const vault = createVault(redis, { tag: tagOf(name), seal }, ports);
  const { publicUrl } = config.http;
  const hookUrl = publicUrl === undefined ? {} : { hookUrl: `${publicUrl}/hooks/${name}` };
  const own = {
    ...ports,
    ...hookUrl,
    now: vendorTime.now,
    log,
    budget,
    vault,
    snapshots: snapshotsByIds(known.snapshots, known.aliases),
  };
  return aliasedSource(open(own), known.aliases, { now: () => new Date() });
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
