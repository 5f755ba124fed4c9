import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { takeLock } from '../../../../worker/redis/file-lock.ts';
import { testFolder } from '../../../support/folder.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = testFolder();
  path = join(dir, 'lock');
});

describe('a lock file', () => {
  test('it is free once, then names its holder, then is free again', async () => {
    const first = await takeLock(path);
    expect(first.free).toBe(true);
    expect(await takeLock(path)).toEqual({ free: false, pid: process.pid });
    if (first.free) await first.release();
    expect((await takeLock(path)).free).toBe(true);
  });

  const ended = spawnSync(process.execPath, ['--version']).pid;
  const stale: [what: string, text: string][] = [
    ['of a process that has ended', JSON.stringify({ pid: ended, born: '1' })],
    ['whose process number belongs to another process now', JSON.stringify({ pid: process.pid, born: '1' })],
    ['that is damaged', '{"pid":'],
    ['that is empty', ''],
  ];
  test.each(stale)('it takes over a lock %s', async (_, text) => {
    writeFileSync(path, text);
    expect((await takeLock(path)).free).toBe(true);
  });

  test('it is taken by one of many at once, also over a stale one, and leaves nothing lying about', async () => {
    for (let round = 0; round < 100; round++) {
      writeFileSync(path, JSON.stringify({ pid: ended, born: '1' }));
      const all = await Promise.all(Array.from({ length: 20 }, () => takeLock(path)));
      expect(all.filter(({ free }) => free)).toHaveLength(1);
      expect(readdirSync(dir)).toEqual(['lock']);
    }
  });

  test('it is taken over also where a process ended in the middle of taking it over', async () => {
    for (const name of [path, `${path}.takeover`]) writeFileSync(name, JSON.stringify({ pid: ended, born: '1' }));
    expect((await takeLock(path)).free).toBe(true);
    expect(readdirSync(dir)).toEqual(['lock']);
  });
});
