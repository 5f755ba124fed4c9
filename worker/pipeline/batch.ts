import DataLoader from 'dataloader';

/** Time is counted in beats of the event loop, so that a suspended process counts as one beat, not as a hundred. */
const beatMs = 10;
/** The beats in a row without a new key, and without a job that may bring one. */
const idleBeats = 2;
/** A batch leaves at the latest this many windows after its first key. */
const longestWindows = 8;

interface Filling {
  dispatch: () => void;
  keys: number;
  /** Beats since its first key, and since the last one came, or could be seen coming. */
  beats: number;
  idle: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Batches the calls of concurrent jobs. A batch leaves when it has `size` keys, or when no further job is on its way and no batch
 * has left for `windowMs`: a single key leaves at once, and keys that keep coming one by one leave together. `run` is called once
 * per batch. Equal keys in a batch share one result. A rejected `run` rejects every caller of its batch, and no other.
 */
export function createBatcher<Key, Value>(options: {
  size: number;
  windowMs: number;
  keyOf: (key: Key) => string;
  run: (keys: readonly Key[]) => Promise<readonly Value[]>;
  /** Whether there are jobs that have not begun yet. Called at every beat. Left out, or rejected: no. */
  mayGrow?: () => Promise<boolean>;
}): (key: Key) => Promise<Value> {
  const { size, windowMs, keyOf, run, mayGrow = async () => false } = options;
  let filling: Filling | undefined;
  /** A batch has left less than a window ago. */
  let resting: NodeJS.Timeout | undefined;

  const loader = new DataLoader<Key, Value>(
    async (keys) => {
      const distinct = new Map(keys.map((key) => [keyOf(key), key]));
      const values = await run([...distinct.values()]);
      const byKey = new Map([...distinct.keys()].map((key, i) => [key, values[i]]));
      return keys.map((key) => byKey.get(keyOf(key)) ?? new Error(`the connector gave no result for ${keyOf(key)}`));
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
