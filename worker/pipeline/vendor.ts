import DataLoader from 'dataloader';
import { callNotes, type HttpCall, notingCalls } from '../../core/connector/calls.ts';
import type {
  ActionRequest,
  ActionResult,
  PresentedRecord,
  ReadResult,
  Source,
  WriteBack,
  WriteResult,
} from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { SnapshotStore } from '../journey/snapshots.ts';
import type { Outage } from '../operations/outage.ts';
import type { EngineOptions } from './engine-options.ts';
import { openSource } from './open-source.ts';
import type { JobQueues } from './queues.ts';

/** The state of a record that was read: closed, open, or gone with the reason. */
export type RecordStatus =
  | { is: 'closed'; record: PresentedRecord; closing: string; closedAt: Date }
  | { is: 'open'; readAgainAt?: Date; record: PresentedRecord }
  | { is: 'out'; why: string; record: PresentedRecord | undefined };

/** A reading of a record. */
export type Reading = RecordStatus & {
  /** When the reading was begun, by `performance.now`. Real time. */
  readAt: number;
};

/** A reading of a closed record. */
export type ClosedReading = Extract<Reading, { is: 'closed' }>;

/** How old a reading may be when a customer is asked by it. Real time. */
export const freshMs = 5_000;

export const isFresh = ({ readAt }: Pick<Reading, 'readAt'>): boolean => performance.now() - readAt < freshMs;

/** The vendor's account, as the steps use it. Concurrent jobs share calls. */
export interface Vendor {
  source: Source;
  /**
   * @param by the stage that reads: each has batches of its own
   * @param since the record has changed at or after this instant
   * @throws the record's own error, for the queue to retry
   */
  read(recordId: string, by: 'plan' | 'ask' | 'act', since?: Date): Promise<Reading>;
  write(item: WriteBack): Promise<WriteResult>;
  /** Does things on one record because of an answer. One result per request, in order. */
  act(requests: readonly ActionRequest[]): Promise<readonly ActionResult[]>;
}

const defaultBatchWindowMs = 500;
/** Time is counted in beats of the event loop, so that a suspended process counts as one beat, not as a hundred. */
const beatMs = 10;
/** A batch leaves after this many beats in a row without a new key, and without a job that may bring a key. */
const idleBeats = 2;
/** A batch leaves at the latest this many windows after its first key. */
const longestWindows = 8;

interface Filling {
  dispatch: () => void;
  keys: number;
  /** Beats since the batch's first key, and beats in a row in which no key came and no job was about to bring a key. */
  beats: number;
  idle: number;
  timer: NodeJS.Timeout | undefined;
}

/** A record to read, which has changed at or after `since`, where that is known. */
interface Wanted {
  id: string;
  since: Date | undefined;
}

/** The earliest of these instants; undefined where one of them is not known. */
function earliest(instants: readonly (Date | undefined)[]): Date | undefined {
  const ms = Math.min(...instants.map((one) => one?.getTime() ?? Number.NaN));
  return Number.isNaN(ms) ? undefined : new Date(ms);
}

/** Opens a configured source (`openSource`), and batches its calls. `outage`: whether the vendor is down. */
export function openVendor(
  configured: ConfiguredSource,
  jobs: JobQueues,
  known: { snapshots: SnapshotStore },
  options: EngineOptions,
): Vendor & { outage: Outage } {
  const { batchWindowMs: windowMs = defaultBatchWindowMs } = options;
  const { source, outage } = openSource(configured, known, options);
  const batch = { size: source.batchSize, windowMs };
  // The write-back acts as well.
  const mayAct = async () => (await jobs.act.hasMore()) || (await jobs.writeBack.hasMore());
  const whole = { read: wholeCalls(), write: wholeCalls(), act: wholeCalls() };
  const reader = (by: 'plan' | 'ask' | 'act') =>
    createNotingBatcher({
      ...batch,
      keyOf: ({ id }: Wanted) => id,
      recordOf: ({ id }: Wanted) => id,
      run: async (wanted: readonly Wanted[]) => {
        const readAt = performance.now();
        const ids = wanted.map(({ id }) => id);
        const since = earliest(wanted.map((one) => one.since));
        const results = await whole.read(source.read(ids, since), ids.length);
        return results.map((result) => ({ result, readAt }));
      },
      mayGrow: by === 'act' ? mayAct : () => jobs[by].hasMore(),
    });
  const readers = { plan: reader('plan'), ask: reader('ask'), act: reader('act') };
  const write = createNotingBatcher({
    ...batch,
    keyOf: ({ marker }: WriteBack) => marker,
    recordOf: ({ recordId }: WriteBack) => recordId,
    run: (items: readonly WriteBack[]) => whole.write(source.writeBack(items), items.length),
    mayGrow: () => jobs.writeBack.hasMore(),
  });
  const act = createNotingBatcher({
    ...batch,
    keyOf: ([first]: readonly ActionRequest[]) => first?.marker ?? '',
    recordOf: ([first]: readonly ActionRequest[]) => first?.recordId ?? '',
    run: async (records: readonly (readonly ActionRequest[])[]) => {
      const results = await whole.act(actOf(source)(records.flat()), records.length);
      const left = [...results];
      return records.map((requests) => left.splice(0, requests.length));
    },
    mayGrow: mayAct,
  });
  const read: Vendor['read'] = async (id, by, since) => {
    const { result, readAt } = await readers[by]({ id, since });
    return { ...statusOf(result), readAt };
  };
  return { source, read, write, act, outage };
}

const actOf = (source: Source): NonNullable<Source['act']> =>
  source.act?.bind(source) ??
  (async (requests) => requests.map(() => ({ ok: false, why: 'closed', message: 'its connector can not do this' })));

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

interface BatcherOptions<Key, Value> {
  size: number;
  windowMs: number;
  keyOf: (key: Key) => string;
  run: (keys: readonly Key[]) => Promise<readonly Value[]>;
  /** Whether more keys may come from jobs that have not begun, or not made their call yet. Called at every beat. Left out, or rejected: no. */
  mayGrow?: () => Promise<boolean>;
}

const noResult = (key: string): Error => new Error(`the connector gave no result for ${key}`);

/** As `createBatcher`, but each job also notes the calls of its batch that were made for its record, as if it had made them alone. */
export function createNotingBatcher<Key, Value>({
  run,
  recordOf,
  ...options
}: BatcherOptions<Key, Value> & { recordOf: (key: Key) => string }): (key: Key) => Promise<Value> {
  const load = createBatcher({
    ...options,
    run: async (keys: readonly Key[]) => {
      const made: [call: HttpCall, recordIds?: readonly string[] | undefined][] = [];
      const results = await notingCalls({ note: (...call) => made.push(call) }, async () => await run(keys)).then(
        (values) => values.map((value) => () => value),
        (error: unknown) =>
          keys.map(() => (): Value => {
            throw error;
          }),
      );
      return results.map((result) => ({ result, made }));
    },
  });
  return async (key) => {
    const { result, made } = await load(key);
    const record = recordOf(key);
    for (const [call, recordIds = [record]] of made) if (recordIds.includes(record)) callNotes()?.note(call);
    const value = result();
    if (value === undefined) throw noResult(options.keyOf(key));
    return value;
  };
}

/**
 * Batches the calls of concurrent jobs. A batch leaves when it has `size` keys, or when no further job is on its way and no batch
 * has left for `windowMs`: a single key leaves at once, and keys that keep coming one by one leave together. `run` is called once
 * per batch. Equal keys in a batch share one result. A rejected `run` rejects every caller of its batch, and no other.
 */
export function createBatcher<Key, Value>(options: BatcherOptions<Key, Value>): (key: Key) => Promise<Value> {
  const { size, windowMs, keyOf, run, mayGrow = async () => false } = options;
  let filling: Filling | undefined;
  /** A batch has left less than a window ago. */
  let resting: NodeJS.Timeout | undefined;

  const loader = new DataLoader<Key, Value>(
    async (keys) => {
      const distinct = new Map(keys.map((key) => [keyOf(key), key]));
      const values = await run([...distinct.values()]);
      const byKey = new Map([...distinct.keys()].map((key, i) => [key, values[i]]));
      return keys.map((key) => byKey.get(keyOf(key)) ?? noResult(keyOf(key)));
    },
    {
      cache: false,
      maxBatchSize: size,
      batchScheduleFn: (dispatch) => {
        const batch: Filling = { dispatch, keys: 0, beats: 0, idle: 0, timer: undefined };
        batch.timer = setInterval(() => void beat(batch), beatMs);
        filling = batch;
      },
    },
  );

  async function beat(batch: Filling): Promise<void> {
    batch.beats++;
    if (batch.beats * beatMs >= longestWindows * windowMs) return send(batch);
    batch.idle = (await mayGrow().catch(() => false)) ? 0 : batch.idle + 1;
    if (batch.idle >= idleBeats && resting === undefined) send(batch);
  }

  function send(batch: Filling): void {
    clearInterval(batch.timer);
    if (filling !== batch) return;
    filling = undefined;
    clearTimeout(resting);
    resting = setTimeout(() => {
      resting = undefined;
    }, windowMs).unref();
    batch.dispatch();
  }

  return (key) => {
    const value = loader.load(key);
    const batch = filling;
    // DataLoader opens a batch, through batchScheduleFn, before load returns.
    if (!batch) return value;
    batch.keys++;
    batch.idle = 0;
    if (batch.keys >= size) send(batch);
    return value;
  };
}
