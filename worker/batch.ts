import DataLoader from 'dataloader';

/**
 * Gathers the calls of concurrent jobs: `load` waits until `size` keys have come, or `windowMs` have passed since the
 * first, then `run` is called once for all of them. Equal keys in a batch share one answer. A rejected `run` rejects
 * every caller of that batch, and only that batch.
 */
export function createBatcher<Key, Value>(options: {
  size: number;
  windowMs: number;
  keyOf: (key: Key) => string;
  run: (keys: readonly Key[]) => Promise<readonly Value[]>;
}): (key: Key) => Promise<Value> {
  const { size, windowMs, keyOf, run } = options;
  const loader = new DataLoader<Key, Value>(
    async (keys) => {
      const distinct = new Map(keys.map((key) => [keyOf(key), key]));
      const values = await run([...distinct.values()]);
      const byKey = new Map([...distinct.keys()].map((key, i) => [key, values[i]]));
      return keys.map((key) => byKey.get(keyOf(key)) ?? new Error(`the connector gave no result for ${keyOf(key)}`));
    },
    { cache: false, maxBatchSize: size, batchScheduleFn: (dispatch) => void setTimeout(dispatch, windowMs) },
  );
  return (key) => loader.load(key);
}
