import DataLoader from 'dataloader';

/** A window is so many beats of the event loop, see `createBatcher`. */
const beatsPerWindow = 10;
/** A batch leaves at the latest this many windows after its first key. */
const longestWindows = 8;

interface Filling {
  dispatch: () => void;
  keys: number;
  /** Beats since its first key, and since its last one. */
  beats: number;
  quiet: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Gathers the calls of concurrent jobs: a batch leaves when `size` keys have come, or when none has come for
 * `windowMs`, and then `run` is called once for all of them. Equal keys in a batch share one answer. A rejected `run`
 * rejects every caller of that batch, and only that batch.
 *
 * Calls are dear and a crowd of jobs is slow on a busy machine, so a batch doesn't give up on them early: the window is
 * counted in beats, of which a process that stands still for a second has one, not ten; and while a call of this batcher
 * is under way, which those that come later would have to follow anyway, the next batch goes on filling.
 */
export function createBatcher<Key, Value>(options: {
  size: number;
  windowMs: number;
  keyOf: (key: Key) => string;
  run: (keys: readonly Key[]) => Promise<readonly Value[]>;
}): (key: Key) => Promise<Value> {
  const { size, windowMs, keyOf, run } = options;
  let filling: Filling | undefined;
  let running = 0;

  const loader = new DataLoader<Key, Value>(
    async (keys) => {
      const distinct = new Map(keys.map((key) => [keyOf(key), key]));
      running++;
      try {
        const values = await run([...distinct.values()]);
        const byKey = new Map([...distinct.keys()].map((key, i) => [key, values[i]]));
        return keys.map((key) => byKey.get(keyOf(key)) ?? new Error(`the connector gave no result for ${keyOf(key)}`));
      } finally {
        running--;
      }
    },
    {
      cache: false,
      maxBatchSize: size,
      batchScheduleFn: (dispatch) => {
        const batch: Filling = { dispatch, keys: 0, beats: 0, quiet: 0, timer: undefined };
        batch.timer = setInterval(() => beat(batch), windowMs / beatsPerWindow);
        filling = batch;
      },
    },
  );

  function beat(batch: Filling): void {
    batch.beats++;
    if (running === 0) batch.quiet++;
    if (batch.quiet >= beatsPerWindow || batch.beats >= longestWindows * beatsPerWindow) send(batch);
  }

  function send(batch: Filling): void {
    clearInterval(batch.timer);
    if (filling === batch) filling = undefined;
    batch.dispatch();
  }

  return (key) => {
    const value = loader.load(key);
    const batch = filling;
    // DataLoader opens a batch, through batchScheduleFn, before load returns.
    if (!batch) return value;
    batch.keys++;
    batch.quiet = 0;
    if (batch.keys >= size) send(batch);
    return value;
  };
}
