import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { CloseloopError } from '../../core/errors.ts';
import { findServer } from './server-binary.ts';

export interface EmbeddedRedis {
  /** Path of the unix socket. */
  socket: string;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Data, lock and socket live here. */
  dir: string;
  /** Where a fetched server is kept; shared by all directories of a project. */
  cache?: string;
  say: (line: string) => void;
  /** `always`: no answer before the disk has it. `everysec` may lose the last second when the machine (not Redis) dies. */
  fsync?: 'always' | 'everysec';
}

/** The kernel's limit for a unix socket's path, less a margin. */
const longestSocket = 100;

/**
 * The shell is the server's parent and waits on our end of a pipe: when this process ends, however it ends, the pipe
 * closes and the server is told to save and end. A plain child would outlive a kill -9 (facts/bullmq.md, section 3).
 */
const wrapper = '"$0" "$@" </dev/null & p=$!; cat >/dev/null; kill -TERM $p; wait $p';

/**
 * Starts a private Redis on a unix socket, append-only file on. Resolves when it answers.
 * @throws CloseloopError config when another process uses the directory, or no server can be had
 */
export async function startEmbeddedRedis(options: EmbeddedOptions): Promise<EmbeddedRedis> {
  const dir = resolve(options.dir);
  const data = join(dir, 'data');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const binary = await findServer(options.cache ?? join(dir, 'redis-server'), options.say);
  const unlock = lock(join(dir, 'lock'));
  const socket = socketIn(dir);
  await untilGone(socket);

  const args = [
    ...['--port', '0', '--unixsocket', socket, '--unixsocketperm', '700', '--dir', data, '--save', ''],
    ...['--appendonly', 'yes', '--appendfsync', options.fsync ?? 'always', '--maxmemory-policy', 'noeviction'],
    ...['--hz', '100', '--daemonize', 'no', '--loglevel', 'warning'],
  ];
  const child = spawn('sh', ['-c', wrapper, binary.file, ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, ...(binary.libraries === undefined ? {} : { LD_LIBRARY_PATH: binary.libraries }) },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2_000);
  });
  child.stdin.on('error', () => undefined);
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  let running = true;
  void ended.then(() => {
    running = false;
  });

  const stop = async (): Promise<void> => {
    child.stdin.end();
    await ended;
    unlock();
  };
  try {
    await untilAnswering(socket, () => running);
  } catch (error) {
    await stop();
    const why = `The embedded Redis in ${dir} did not start: ${said.trim() || (error instanceof Error ? error.message : '')}`;
    throw new CloseloopError(why, { kind: 'config' }, { cause: error });
  }
  return { socket, stop };
}

async function untilAnswering(socket: string, running: () => boolean): Promise<void> {
  const redis = new Redis({ path: socket, retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  try {
    for (;;) {
      if (!running()) throw new Error('it ended');
      // While it loads its file it answers LOADING; ready is when it says PONG.
      const answer = await Promise.race([redis.ping().catch(() => 'not yet'), sleep(200, 'not yet')]);
      if (answer === 'PONG') return;
      await sleep(10);
    }
  } finally {
    redis.disconnect();
  }
}

/** The server of a process that was just killed is still saving: two on one file would destroy it. */
async function untilGone(socket: string): Promise<void> {
  while (await answers(socket)) await sleep(20);
  rmSync(socket, { force: true });
}

async function answers(socket: string): Promise<boolean> {
  const connection = createConnection(socket);
  try {
    await once(connection, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}

function socketIn(dir: string): string {
  const near = join(dir, 'redis.sock');
  if (Buffer.byteLength(near) <= longestSocket) return near;
  const short = join(tmpdir(), `closeloop-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`);
  mkdirSync(short, { recursive: true, mode: 0o700 });
  return join(short, 'redis.sock');
}

/** Two servers on one append-only file would destroy it: the directory belongs to one living process. */
function lock(file: string): () => void {
  for (;;) {
    try {
      const fd = openSync(file, 'wx', 0o600);
      writeSync(fd, String(process.pid));
      closeSync(fd);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid > 0 && isAlive(pid)) {
      throw new CloseloopError(
        `Process ${pid} uses the embedded Redis in ${join(file, '..')}. End it, choose another directory with --data, ` +
          'or give both a Redis of their own with "redis:" in the configuration',
        { kind: 'config' },
      );
    }
    unlinkSync(file);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
