import { expect, test } from 'vitest';
import { remember } from '../../../connectors/hubspot/memory.ts';

test('what is remembered is loaded once for callers at the same time, again when it is old, and after a failure', async () => {
  let ms = 1_000_000;
  let loads = 0;
  let failing = false;
  const kept = remember(
    async () => {
      loads += 1;
      if (failing) throw new Error('down');
      return loads;
    },
    1000,
    () => new Date(ms),
  );
  expect(await Promise.all([kept.get(), kept.get()])).toEqual([1, 1]);
  ms += 1000;
  expect(await kept.get()).toBe(1);
  ms += 1;
  failing = true;
  await expect(Promise.all([kept.get(), kept.get()])).rejects.toThrow('down');
  failing = false;
  expect(await kept.get()).toBe(3);
  expect(await kept.get(new Date(ms))).toBe(3);
  expect(await kept.get(new Date(ms + 1))).toBe(4);
});
