import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { writeTogether } from '../../../../worker/redis/connection.ts';

/** What arrives at the other end, by system call. */
function connection() {
  const calls: string[][] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => {
      calls.push([String(chunk)]);
      done();
    },
    writev: (chunks, done) => {
      calls.push(chunks.map(({ chunk }) => String(chunk)));
      done();
    },
  });
  writeTogether(stream);
  return { calls, stream };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('what is written in one turn leaves together, in its order', async () => {
  const { calls, stream } = connection();
  stream.write('a');
  await Promise.resolve();
  stream.write('b');
  process.nextTick(() => stream.write('c'));
  expect(calls).toEqual([]);
  await turn();
  expect(calls).toEqual([['a', 'b', 'c']]);
  stream.write('d');
  await turn();
  expect(calls).toEqual([['a', 'b', 'c'], ['d']]);
});

test('what was written leaves before the connection is ended', async () => {
  const { calls, stream } = connection();
  stream.write('a');
  stream.end('b');
  await new Promise((resolve) => stream.once('finish', resolve));
  expect(calls.flat()).toEqual(['a', 'b']);
});
