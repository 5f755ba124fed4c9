import DataLoader from 'dataloader';

/** A batch leaves at the latest this many windows after its first key. */
const longestWindows = 8;

interface Filling {
  dispatch: () => void;
  keys: number;
  since: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Gathers the calls of concurrent jobs: a batch leaves when `size` keys have come, or when none has come for
 * `windowMs`, and then `run` is called once for all of them. Equal keys in a batch share one answer. A rejected `run`
 * rejects every caller of that batch, and only that batch.
 */
export function createBatcher<Key, Value>(options: {
  size: number;
  windowMs: number;
  keyOf: (key: Key) => string;
  run: (keys: readonly Key[]) => Promise<readonly Value[]>;
}): (key: Key) => Promise<Value> {
  const { size, windowMs, keyOf, run } = options;
  let filling: Filling | undefined;

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
        filling = { dispatch, keys: 0, since: Date.now(), timer: undefined };
      },
    },
  );

  function send(batch: Filling): void {
    clearTimeout(batch.timer);
    if (filling === batch) filling = undefined;
    batch.dispatch();
  }

  return (key) => {
    const value = loader.load(key);
    const batch = filling;
    // DataLoader opens a batch, through batchScheduleFn, before load returns.
    if (!batch) return value;
    batch.keys++;
    clearTimeout(batch.timer);
    if (batch.keys >= size) {
      send(batch);
    } else {
      const left = batch.since + longestWindows * windowMs - Date.now();
      batch.timer = setTimeout(() => send(batch), Math.max(0, Math.min(windowMs, left)));
    }
    return value;
  };
}
