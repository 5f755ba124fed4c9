import { expect, test } from 'vitest';
import { Approach } from '../../../../worker/pipeline/job-queue.ts';

test('a job is on its way until it has made its call', async () => {
  const approach = new Approach();
  const called = await approach.run(async (arrived) => {
    const before = approach.isAny();
    arrived();
    return [before, approach.isAny()];
  });
  expect(called).toEqual([true, false]);
});

test('a job that ends without a call, or fails, is on its way no more', async () => {
  const approach = new Approach();
  expect(await approach.run(async () => 'skipped')).toBe('skipped');
  expect(approach.isAny()).toBe(false);
  await expect(approach.run(async () => Promise.reject(new Error('429')))).rejects.toThrow('429');
  expect(approach.isAny()).toBe(false);
});

test('nobody waits for a job that is held up, and everybody for one that begins after it', async () => {
  let ms = 0;
  const approach = new Approach(() => ms);
  const end = Promise.withResolvers<void>();
  const heldUp = approach.run(() => end.promise);
  ms = 2_001;
  expect(approach.isAny()).toBe(false);
  const next = approach.run(() => end.promise);
  expect(approach.isAny()).toBe(true);
  end.resolve();
  await Promise.all([heldUp, next]);
});
