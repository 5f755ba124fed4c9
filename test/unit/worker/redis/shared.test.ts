import { expect, test } from 'vitest';
import { shared } from '../../../../worker/redis/shared.ts';

/** Runs that end when they are told to. */
function runs() {
  const begun: PromiseWithResolvers<number>[] = [];
  const run = shared(() => {
    const one = Promise.withResolvers<number>();
    begun.push(one);
    return one.promise;
  });
  return { begun, run };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('those who come while a run is under way share the next one', async () => {
  const { begun, run } = runs();
  const first = run();
  await turn();
  const others = [run(), run(), run()];
  await turn();
  expect(begun).toHaveLength(1);
  begun[0]?.resolve(1);
  expect(await first).toBe(1);
  await turn();
  expect(begun).toHaveLength(2);
  begun[1]?.resolve(2);
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
});

test('a run that fails fails for those who share it, and not for the next', async () => {
  const { begun, run } = runs();
  const first = run();
  await turn();
  const next = run();
  begun[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await turn();
  begun[1]?.resolve(2);
  expect(await next).toBe(2);
});
