import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { restsAfter, youngGrowth } from '../../../../worker/cli/heap.ts';

const rows: [size: string, bytes: number, by: 1 | 2][] = [
  ['as small as it gets', 2.1e6, 2],
  ['as it is under some load', 33.6e6, 2],
  ['as it is when it has doubled once more', 67.1e6, 1],
  ['as V8 would have it', 134.2e6, 1],
];
test.each(rows)('the space of new objects, %s, grows until both of its halves take 67 MB', (_, bytes, by) => {
  expect(youngGrowth(bytes)).toBe(by);
});

const seconds: [second: string, rests: number, busyShare: number, then: number][] = [
  ['first second at rest', 0, 0.01, 1],
  ['next second at rest', 1, 0.049, 2],
  ['second at work', 5, 0.05, 0],
];
test.each(seconds)('a %s is counted', (_, rests, busyShare, then) => {
  expect(restsAfter(rests, busyShare)).toBe(then);
});

test('gives back, once its start is over, what that took, by flags that this V8 knows', async ({ signal }) => {
  // It ends when the garbage is gone.
  const program = `
    import { limitHeap, optimizeLate } from ${JSON.stringify(resolve(import.meta.dirname, '../../../../worker/cli/heap.ts'))};
    optimizeLate();
    limitHeap();
    let kept = Array.from({ length: 500_000 }, (_, at) => ({ at, text: \`number \${at}\` }));
    const most = process.memoryUsage().heapUsed;
    setTimeout(() => {
      kept = undefined;
      const look = setInterval(() => {
        if (process.memoryUsage().heapUsed < most / 3) clearInterval(look);
      }, 100);
    }, 1_000);
  `;
  // Without what V8 itself does at rest.
  const args = ['--no-memory-reducer', '--input-type=module', '--eval', program];
  expect(await promisify(execFile)(process.execPath, args, { signal })).toEqual({ stdout: '', stderr: '' });
});

test('keeps what is new small, however much garbage a command makes', async ({ signal }) => {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { limitYoung } from ${JSON.stringify(resolve(import.meta.dirname, '../../../../worker/cli/heap.ts'))};
    limitYoung();
    const kept = [];
    for (let page = 0; page < 300; page++) {
      kept[page % 20] = Array.from({ length: 10_000 }, (_, at) => ({ at, text: 'number ' + at }));
      // As they come over the network.
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size);
  `;
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { signal });
  expect(Number(stdout)).toBeGreaterThan(1e6);
  expect(Number(stdout)).toBeLessThan(70e6);
});
