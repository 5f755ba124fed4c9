import { expect, test } from 'vitest';
import { cached } from '../../../../core/connector/cached.ts';

/** Loads 1, 2, … and keeps each for 1,000 ms, at an hour that a test sets. */
function counting() {
  const state = { now: 10_000, loads: 0, fails: false };
  const load = async () => {
    state.loads += 1;
    if (state.fails) throw new Error('no load');
    return state.loads;
  };
  return { state, get: cached(load, 1_000, () => new Date(state.now)) };
}

test.each([
  ['while it is fresh it is kept', 1_000, undefined, 1],
  ['when its time is over it is loaded again', 1_001, undefined, 2],
  ['what was loaded at that moment is late enough', 500, new Date(10_000), 1],
  ['what was loaded before that moment is loaded again', 500, new Date(10_001), 2],
  ['asked for now it is loaded again', 0, 'now' as const, 2],
])('%s', async (_what, later, loadedAfter, expected) => {
  const { state, get } = counting();
  expect(await get()).toBe(1);
  state.now += later;
  expect(await get(loadedAfter)).toBe(expected);
});

test('callers that come together share one load', async () => {
  const { state, get } = counting();
  expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1]);
  expect(state.loads).toBe(1);
});

test('a failure is told to those who wait for it, and is not kept', async () => {
  const { state, get } = counting();
  state.fails = true;
  expect((await Promise.allSettled([get(), get()])).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  state.fails = false;
  expect(await get()).toBe(2);
});

test('a load that fails late does not take away a newer one', async () => {
  const ends: ((fails: boolean) => void)[] = [];
  const load = () =>
    new Promise<number>((resolve, reject) => {
      const mine = ends.length;
      ends.push((fails) => (fails ? reject(new Error('late')) : resolve(mine)));
    });
  const get = cached(load, 1_000, () => new Date(10_000));
  const first = get();
  const second = get('now');
  ends[1]?.(false);
  expect(await second).toBe(1);
  ends[0]?.(true);
  await expect(first).rejects.toThrow('late');
  expect(await get()).toBe(1);
});
