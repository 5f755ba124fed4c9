import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withoutTheErased } from '../../../../worker/cli/runtime.ts';
import { connect } from '../../../../worker/redis/connection.ts';
import { type EmbeddedRedis, ping, startEmbeddedRedis } from '../../../../worker/redis/embedded.ts';
import { serverCache } from '../../../support/redis-cache.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function folder(prefix = join(tmpdir(), 'closeloop-test-')): string {
  const dir = mkdtempSync(prefix);
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function start(dir: string, said: string[] = []): Promise<EmbeddedRedis> {
  const redis = await startEmbeddedRedis({ dir, cache: serverCache, say: (line) => void said.push(line) });
  undo.push(() => redis.stop());
  return redis;
}

/** A process of its own with the embedded Redis of `dir`. */
async function holder(dir: string): Promise<{ process: ChildProcess; socket: string; own: boolean }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'holder.ts'), dir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  undo.push(() => child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stdout), 'line');
  const Said = z.object({ socket: z.string(), own: z.boolean() });
  return { process: child, ...Said.parse(JSON.parse(z.string().parse(line))) };
}

async function command(socket: string, name: string, ...args: string[]): Promise<unknown> {
  const handle = connect({ path: socket }, () => undefined);
  try {
    return await handle.client.call(name, ...args);
  } finally {
    await handle.close();
  }
}

async function until(met: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await met())) await sleep(20);
}

const pidOf = (dir: string) => Number(readFileSync(join(dir, 'data/redis.pid'), 'utf8'));

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A dead process that nobody has collected (no init in a container) still has its number.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' && !existsSync('/proc');
  }
}

describe('the embedded Redis', () => {
  test('it answers when it is started, keeps every write and evicts nothing', async () => {
    const { socket, own } = await start(folder());
    expect(own).toBe(true);
    expect(await ping(socket, 1_000)).toBe('ready');
    const settings: [name: string, value: string][] = [
      ['appendonly', 'yes'],
      ['appendfsync', 'always'],
      ['maxmemory-policy', 'noeviction'],
      ['hz', '100'],
      ['port', '0'],
    ];
    for (const [name, value] of settings) expect(await command(socket, 'CONFIG', 'GET', name)).toEqual([name, value]);
  });

  test('what was forgotten is in no file of it when that has been written anew, or was tried by one that was killed (audit trace)', async () => {
    const dir = folder();
    const data = join(dir, 'data');
    const redis = await start(dir);
    const secret = 'somebody to be forgotten';
    await command(redis.socket, 'SET', 'key', secret);
    await command(redis.socket, 'DEL', 'key');
    const handle = connect({ path: redis.socket }, () => undefined);
    expect(await withoutTheErased(handle.client)).toBe(true);
    await handle.close();
    const holding = () =>
      readdirSync(data, { recursive: true, withFileTypes: true }).filter(
        (one) => one.isFile() && readFileSync(join(one.parentPath, one.name)).includes(secret),
      );
    expect(holding()).toEqual([]);
    await redis.stop();
    for (const name of ['temp-rewriteaof-bg-17.aof', 'temp-17.rdb', 'appendonlydir/temp-17.aof'])
      writeFileSync(join(data, name), secret);
    await start(dir);
    expect(holding()).toEqual([]);
  });

  test('it keeps its data over a stop and a start', async () => {
    const dir = folder();
    const first = await start(dir);
    await command(first.socket, 'SET', 'k', 'kept');
    await first.stop();
    await first.stop();
    expect(await ping(first.socket, 1_000)).toBe('dead');
    const second = await start(dir);
    expect(await command(second.socket, 'GET', 'k')).toBe('kept');
  });

  test('its files are for nobody else, also in a folder that others may enter (audit leak)', async () => {
    const dir = folder();
    mkdirSync(join(dir, 'data'), { mode: 0o755 });
    chmodSync(dir, 0o755);
    const { socket } = await start(dir);
    await command(socket, 'SET', 'k', 'kept');
    const files = readdirSync(dir, { recursive: true, withFileTypes: true })
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => path !== join(dir, 'data'));
    const others = files.filter((path) => !path.endsWith('lock') && (statSync(path).mode & 0o077) !== 0);
    expect(files.some((path) => path.endsWith('.aof'))).toBe(true);
    expect(others).toEqual([]);
  });

  test('it ends when its parent is killed with SIGKILL, and the next start has the data', async () => {
    const dir = folder();
    const parent = await holder(dir);
    await command(parent.socket, 'SET', 'k', 'kept');
    const pid = pidOf(dir);
    expect(isRunning(pid)).toBe(true);
    parent.process.kill('SIGKILL');
    await until(() => !isRunning(pid));
    const next = await start(dir);
    expect(next.own).toBe(true);
    expect(await command(next.socket, 'GET', 'k')).toBe('kept');
  });

  test('it lets a start that comes while the old one still ends wait for it', async () => {
    const dir = folder();
    const parent = await holder(dir);
    await command(parent.socket, 'SET', 'k', 'kept');
    parent.process.kill('SIGKILL');
    await once(parent.process, 'exit');
    const next = await start(dir);
    expect(await command(next.socket, 'GET', 'k')).toBe('kept');
  });

  test.skipIf(!existsSync('/proc'))('it is not ended by Ctrl-C in the terminal of its parent', async () => {
    const dir = folder();
    const child = await holder(dir);
    const group = readFileSync(`/proc/${pidOf(dir)}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ')[2];
    expect(Number(group)).not.toBe(child.process.pid);
    expect(Number(group)).not.toBe(process.pid);
  });

  test('it is shared with a second process on the same folder, which does not end it', async () => {
    const dir = folder();
    const first = await holder(dir);
    const said: string[] = [];
    const second = await start(dir, said);
    expect(second).toMatchObject({ socket: first.socket, own: false });
    expect(said).toEqual([expect.stringContaining(`Using the Redis of process ${first.process.pid};`)]);
    await second.stop();
    expect(await ping(first.socket, 1_000)).toBe('ready');
  });

  test.each(['in order', 'SIGKILL'])(
    'who shares it goes on with one of its own, and the same data, when the first process ends (%s) (audit 25)',
    async (end) => {
      const dir = folder();
      const first = await holder(dir);
      const [second, third] = [await holder(dir), await holder(dir)];
      expect([second.own, third.own]).toEqual([false, false]);
      const { client, close } = connect({ path: second.socket }, () => undefined);
      undo.push(close);
      await client.set('k', 'kept');
      const pid = pidOf(dir);
      if (end === 'SIGKILL') first.process.kill('SIGKILL');
      else first.process.stdin?.write('stop\n');
      await until(() => !isRunning(pid));
      // The connection that was there goes on: it is the same socket.
      expect(await client.get('k')).toBe('kept');
      // And one of the two that are left goes on when the other one ends.
      second.process.kill('SIGKILL');
      await until(() => second.process.signalCode !== null);
      expect(await client.get('k')).toBe('kept');
      third.process.kill('SIGKILL');
      await until(async () => (await ping(second.socket, 1_000)) === 'dead');
    },
  );

  test('whoever starts while it ends has one that goes on (audit 25)', async () => {
    const dir = folder();
    for (let round = 0; round < 5; round++) {
      const first = await holder(dir);
      const { client, close } = connect({ path: first.socket }, () => undefined);
      await client.set('k', `kept ${round}`);
      first.process.stdin?.write('stop\n');
      const second = await start(dir);
      await until(() => first.process.exitCode !== null);
      expect(await command(second.socket, 'GET', 'k')).toBe(`kept ${round}`);
      await close();
      await second.stop();
      expect(await ping(second.socket, 1_000)).toBe('dead');
    }
  });

  test('it is started once when many start at the same moment', async () => {
    const dir = folder();
    const all = await Promise.all(Array.from({ length: 6 }, () => start(dir)));
    expect(all.filter(({ own }) => own)).toHaveLength(1);
    expect(new Set(all.map(({ socket }) => socket)).size).toBe(1);
  });

  test('it starts again with its data when it is killed, and connections recover', async () => {
    const dir = folder();
    const said: string[] = [];
    const { socket } = await start(dir, said);
    const handle = connect({ path: socket }, () => undefined);
    undo.push(() => handle.close());
    await handle.client.set('k', 'kept');
    const pid = pidOf(dir);
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(pid));
    expect(await handle.client.get('k')).toBe('kept');
    expect(said).toEqual([expect.stringContaining('ended by itself; starting it again')]);
  });

  test('it ends also when it was started again in between', async () => {
    const dir = folder();
    const parent = await holder(dir);
    const pid = pidOf(dir);
    process.kill(pid, 'SIGKILL');
    await until(async () => !isRunning(pid) && (await ping(parent.socket, 1_000)) === 'ready');
    const again = pidOf(dir);
    parent.process.kill('SIGKILL');
    await until(() => !isRunning(again));
  });

  test('it takes a short socket elsewhere for a folder with a long name', async () => {
    const dir = join(folder(), 'x'.repeat(120));
    const { socket, stop } = await start(dir);
    undo.push(() => rmSync(dirname(socket), { recursive: true }));
    expect(Buffer.byteLength(socket)).toBeLessThan(104);
    expect(await ping(socket, 1_000)).toBe('ready');
    await stop();
  });

  test('it says what to do about a folder that can not be written', async () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    // Under a file nothing can be made, by whatever user.
    for (const dir of [file, join(file, 'below')]) {
      const message = expect.stringMatching(/Can't keep data in .*file.*--data, or name a Redis/);
      await expect(start(dir)).rejects.toMatchObject({ message, advice: { kind: 'config' } });
    }
  });

  test('it says what Redis said when it can not start', async () => {
    const dir = folder();
    const { socket, stop } = await start(dir);
    await command(socket, 'SET', 'k', 'kept');
    await stop();
    writeFileSync(join(dir, 'data/appendonlydir/appendonly.aof.1.incr.aof'), 'this is no append-only file');
    await expect(start(dir)).rejects.toMatchObject({
      name: 'CloseloopError',
      advice: { kind: 'config' },
      message: expect.stringMatching(/did not start[\s\S]*Bad file format/),
    });
  });
});
