import { expect, test } from 'vitest';
import { youngGrowth } from '../../../../worker/cli/heap.ts';

const rows: [size: string, bytes: number, by: 1 | 2][] = [
  ['as small as it gets', 2.1e6, 2],
  ['as it is under some load', 33.6e6, 2],
  ['as it is when it has doubled once more', 67.1e6, 1],
  ['as V8 would have it', 134.2e6, 1],
];
test.each(rows)('the space of new objects, %s, grows until both of its halves take 67 MB', (_, bytes, by) => {
  expect(youngGrowth(bytes)).toBe(by);
});
