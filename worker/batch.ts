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
 * `quietMs`, and then `run` is called once for all of them. Equal keys in a batch share one answer. A rejected `run`
 * rejects every caller of that batch, and only that batch.
 */
export function createBatcher<Key, Value>(options: {
  size: number;
  quietMs: number;
  keyOf: (key: Key) => string;
  run: (keys: readonly Key[]) => Promise<readonly Value[]>;
}): (key: Key) => Promise<Value> {
  const { size, quietMs, keyOf, run } = options;
  let filling: Filling | undefined;

  let waiting: { keys: number; dispatch: () => void } | undefined;
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
        const timer = setTimeout(() => batch.dispatch(), windowMs);
        const batch = {
          keys: 0,
          dispatch: () => {
            clearTimeout(timer);
            if (waiting === batch) waiting = undefined;
            dispatch();
          },
        };
        waiting = batch;
      },
    },
  );
  return (key) => {
    const value = loader.load(key);
    // A full batch has nobody left to wait for.
    if (waiting && ++waiting.keys >= size) waiting.dispatch();
    return value;
  };
}
