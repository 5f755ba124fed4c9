import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aboutRecords, callNotes, type HttpCall, notingCalls } from '../../../../core/connector/calls.ts';
import { createBatcher, createNotingBatcher } from '../../../../worker/pipeline/vendor.ts';

/** A window that no test waits out: after the first one only a full batch is sent. */
const never = 600_000;

function batcher(
  size: number,
  windowMs: number,
  answer = async (keys: readonly string[]) => keys.map((key) => `${key}!`),
  mayGrow = async () => false,
) {
  const calls: string[][] = [];
  const load = createBatcher<string, string>({
    size,
    windowMs,
    mayGrow,
    keyOf: (key) => key,
    run: async (keys) => {
      calls.push([...keys]);
      return await answer(keys);
    },
  });
  return { load, calls };
}

test('it sends a lone key without waiting for a window, and gathers what comes within the window after it', async () => {
  const { load, calls } = batcher(2, never);
  expect(await load('a')).toBe('a!');
  const second = load('b');
  // Longer than the lone one waited.
  await sleep(100);
  expect(await Promise.all([second, load('c')])).toEqual(['b!', 'c!']);
  expect(calls).toEqual([['a'], ['b', 'c']]);
});

test('it does not count the time for which the process stood still', async () => {
  const { load, calls } = batcher(100, 30);
  const first = load('a');
  const second = new Promise<string>((resolve) => {
    // Out of the check phase: timers that have become due are next, and only then what comes from outside.
    setImmediate(() => {
      setImmediate(() => resolve(load('b')));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    });
  });
  await Promise.all([first, second]);
  expect(calls).toEqual([['a', 'b']]);
});

test('it waits for jobs that have not begun, and not for ever', async () => {
  let isAwaited = true;
  const { load, calls } = batcher(100, 30, undefined, async () => isAwaited);
  const first = load('a');
  await sleep(100);
  const second = load('b');
  isAwaited = false;
  await Promise.all([first, second]);
  isAwaited = true;
  expect(await load('c')).toBe('c!');
  expect(calls).toEqual([['a', 'b'], ['c']]);
});

test('it does without knowing who is on the way', async () => {
  const { load } = batcher(100, 10, undefined, async () => {
    throw new Error('Redis is away');
  });
  expect(await load('a')).toBe('a!');
});

test('it does not wait for the window when a batch is full', async () => {
  const { load, calls } = batcher(2, never);
  expect(await Promise.all(['a', 'b', 'c', 'd'].map(load))).toEqual(['a!', 'b!', 'c!', 'd!']);
  expect(calls).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test('it asks for equal keys once, and answers every caller', async () => {
  const { load, calls } = batcher(4, never);
  expect(await Promise.all(['a', 'b', 'a', 'a'].map(load))).toEqual(['a!', 'b!', 'a!', 'a!']);
  expect(calls).toEqual([['a', 'b']]);
});

test('it asks anew for a key that was answered before: a record changes', async () => {
  const { load, calls } = batcher(1, never);
  await load('a');
  await load('a');
  expect(calls).toEqual([['a'], ['a']]);
});

test('it fails the callers of a call that failed, and nobody else', async () => {
  const { load } = batcher(2, never, async (keys) => {
    if (keys.includes('b')) throw new Error('429');
    return keys.map((key) => `${key}!`);
  });
  const settled = await Promise.allSettled(['a', 'b', 'c', 'd'].map(load));
  expect(settled).toMatchObject([
    { reason: new Error('429') },
    { reason: new Error('429') },
    { value: 'c!' },
    { value: 'd!' },
  ]);
});

test('it tells a caller whose answer is missing, and answers the others', async () => {
  const { load } = batcher(2, never, async () => ['a!']);
  expect(await Promise.allSettled(['a', 'b'].map(load))).toMatchObject([
    { value: 'a!' },
    { reason: new Error('the connector gave no result for b') },
  ]);
});

test('it never sends more than a batch at once, and gives everybody their own answer', async () => {
  const keys = fc.array(fc.stringMatching(/^[a-f]{1,2}$/), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(keys, fc.integer({ min: 1, max: 7 }), async (wanted, size) => {
      const { load, calls } = batcher(size, 1);
      expect(await Promise.all(wanted.map(load))).toEqual(wanted.map((key) => `${key}!`));
      for (const call of calls) {
        expect(call.length).toBeLessThanOrEqual(size);
        expect(new Set(call).size).toBe(call.length);
      }
    }),
    { numRuns: 100 },
  );
});

test.each([false, true])(
  'each job is told of the calls of its batch that were made for its record, or for all (the batch fails: %s)',
  async (fails) => {
    const call = (operation: string): HttpCall => {
      return { to: 'Toy', operation, end: 200, begunAt: 0, ms: 1, tries: 1 };
    };
    const load = createNotingBatcher({
      ...{ size: 3, windowMs: never, keyOf: (key: string) => key, recordOf: (key: string) => key.slice(0, 1) },
      run: async (keys) => {
        callNotes()?.note(call('for all'));
        for (const key of keys) aboutRecords([key.slice(0, 1)], () => callNotes()?.note(call(`for ${key}`)));
        if (fails) throw new Error('refused');
        return keys.map((key) => `${key}!`);
      },
    });
    const jobs = ['a.1', 'b.1', 'a.2'].map(async (key) => {
      const told: string[] = [];
      const value = await notingCalls({ note: ({ operation }) => told.push(operation) }, () =>
        load(key).catch(({ message }: Error) => message),
      );
      return [value, ...told];
    });
    expect(await Promise.all(jobs)).toEqual([
      [fails ? 'refused' : 'a.1!', 'for all', 'for a.1', 'for a.2'],
      [fails ? 'refused' : 'b.1!', 'for all', 'for b.1'],
      [fails ? 'refused' : 'a.2!', 'for all', 'for a.1', 'for a.2'],
    ]);
  },
);
