import { type ChildProcess, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { access, constants, lstat, mkdir, open, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, neverSent } from '../../core/errors.ts';
import { isHeld, type Lock, takeLock } from './file-lock.ts';
import { findServerBinary, type ServerBinary, serverCache } from './server-binary.ts';

export interface EmbeddedOptions {
  /** The folder `.closeloop`, with `data/` and `redis.log`. */
  dir: string;
  /** The folder for a fetched server. Default: one folder for all working folders of this user (`serverCache`). */
  cache?: string;
  /** Shows one line to the person at the terminal. */
  say: (line: string) => void;
  /**
   * `always` (default): an acknowledged write survives a power cut. `everysec`: a power cut loses up to a second of writes;
   * the crash of a process loses nothing.
   */
  fsync?: 'always' | 'everysec';
}

export interface EmbeddedRedis {
  /** The path of Redis' unix socket. */
  socket: string;
  /** False where another closeloop on this folder started Redis. When that process ends, this process starts Redis on the same socket. */
  own: boolean;
  /** Stops a Redis that this process started, after Redis has written everything to the disk. May be called again. */
  stop(): Promise<void>;
}

/** The most bytes in the path of a unix socket: 107 on Linux, 103 on macOS. */
const longestSocket = 103;
const handOverMs = 10_000;
const stopMs = 10_000;
/** How often a process that shares a Redis checks whether the owner has ended. */
const checkMs = 200;
const tryAgainMs = 5_000;

/**
 * A shell script that starts Redis and watches it: when Redis ends, the shell exits with Redis' status. When closeloop's end of descriptor
 * 0 closes, also by a kill -9, the watcher stops Redis. The watcher is a separate process, so it stops Redis even if the shell was killed.
 * No other user can read Redis' files, even in a folder that others may enter.
 */
const wrapper = `
umask 077
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{ read -r _ <&3; kill -TERM $server; } 2>/dev/null &
watcher=$!
wait $server
status=$?
kill $watcher 2>/dev/null
exit $status`;

/**
 * Starts the embedded Redis: on a unix socket, with every write in a file below `dir`. Redis ends whenever this process ends, for whatever
 * reason, and is started again when it dies by itself. Resolves when Redis answers. If another closeloop on this machine runs a Redis on
 * the same folder, that Redis is shared; when the other closeloop ends, this process starts Redis itself, on the same socket.
 * @throws CloseloopError config, with the remedy, when there is no server or it can't start.
 */
export async function startEmbeddedRedis(options: EmbeddedOptions): Promise<EmbeddedRedis> {
  const { say } = options;
  const dir = resolve(options.dir);
  const data = join(dir, 'data');
  await makeOurs(dir, data);
  const socket = await socketFor(data);
  const start = (lock: Held) => startOwn({ ...options, dir }, { data, socket, lock });

  const lock = await ownOrShare(data, socket);
  if (lock.free) return { socket, own: true, stop: await start(lock) };
  say(`Using the Redis of process ${lock.pid}; when that process ends, this one goes on with a Redis of its own.`);
  return { socket, own: false, stop: succeeding({ data, socket, say }, start) };
}

type Held = Extract<Lock, { free: true }>;

/** Resolves, once Redis answers, with the function that stops Redis. The lock is released in every case. */
async function startOwn(
  options: EmbeddedOptions,
  { data, socket, lock }: { data: string; socket: string; lock: Held },
): Promise<() => Promise<void>> {
  const { dir, say } = options;
  try {
    const cache = resolve(options.cache ?? serverCache(join(dir, 'redis-server'), process.env));
    const binary = await findServerBinary({ cache, path: process.env.PATH ?? '', say });
    const keeper = new Keeper({ binary, dir, data, socket, fsync: options.fsync ?? 'always', say });
    await keeper.start();
    let stopped: Promise<void> | undefined;
    return () => {
      stopped ??= keeper.stop().finally(() => lock.release());
      return stopped;
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * Shares the Redis of another process, and starts a Redis when that process has ended, or is already ending.
 * @returns stops that
 */
function succeeding(
  { data, socket, say }: { data: string; socket: string; say: (line: string) => void },
  start: (lock: Held) => Promise<() => Promise<void>>,
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let stopOwn: (() => Promise<void>) | undefined;

  /** One of the waiting processes gets the lock; the other processes use the Redis that this process starts. */
  async function succeed(): Promise<void> {
    const path = join(data, 'lock');
    if (await isHeld(path)) return;
    const lock = await takeLock(path);
    if (!lock.free) return;
    await untilDead(lock, socket, data);
    say('The process whose Redis was shared has ended; starting one here.');
    stopOwn = await start(lock);
  }

  async function watch(): Promise<void> {
    for (let pauseMs = checkMs; !signal.aborted && !stopOwn; ) {
      await sleep(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        pauseMs = checkMs;
        await succeed();
      } catch (error) {
        say(`${messageOf(error)} It is tried again.`);
        pauseMs = tryAgainMs;
      }
    }
  }

  const watching = watch();
  return async () => {
    stopping.abort();
    await watching;
    await stopOwn?.();
  };
}

/** @throws CloseloopError config for folders that can't be made or written: another user's, a read-only disk */
async function makeOurs(dir: string, data: string): Promise<void> {
  try {
    await mkdir(data, { recursive: true, mode: 0o700 });
    for (const folder of [dir, data]) await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const remedy = 'Choose another folder with --data, or name a Redis in the configuration ("redis").';
    throw neverSent(`Can't keep data in ${dir} (${messageOf(cause)}). ${remedy}`, 'config', cause);
  }
}

/** Takes the folder's lock, or waits until the Redis of the process that has the lock answers. */
async function ownOrShare(data: string, socket: string): Promise<Lock> {
  for (const until = Date.now() + 60_000; ; ) {
    const lock = await takeLock(join(data, 'lock'));
    if (lock.free) await untilDead(lock, socket, data);
    if (lock.free || (await ping(socket, 1_000)) === 'ready') return lock;
    if (Date.now() > until) {
      const remedy = `Stop that process (kill ${lock.pid}) and start again, or choose another folder with --data.`;
      throw neverSent(`${data} is in use by process ${lock.pid}, whose Redis does not answer. ${remedy}`);
    }
    await sleep(100);
  }
}

/**
 * Waits until an earlier Redis, whose parent was killed, has ended: two servers on the same files would damage the files. If it does not
 * end, the lock is released.
 */
async function untilDead(lock: Held, socket: string, data: string): Promise<void> {
  for (const until = Date.now() + handOverMs; (await ping(socket, 1_000)) !== 'dead'; await sleep(10)) {
    if (Date.now() < until) continue;
    await lock.release();
    const pid = (await readFile(join(data, 'redis.pid'), 'utf8').catch(() => '')).trim();
    const how = pid === '' ? '' : ` (kill ${pid})`;
    throw neverSent(`A Redis server that no closeloop owns still uses ${data}. End it${how} and start again.`);
  }
}

/**
 * The path of the socket: in the data folder where the path is short enough, else in a private folder below the system's temporary
 * folder.
 */
async function socketFor(data: string): Promise<string> {
  const inside = join(data, 'redis.sock');
  if (Buffer.byteLength(inside) <= longestSocket) return inside;
  const name = hash('sha256', await realpath(data)).slice(0, 16);
  const folder = join(tmpdir(), `closeloop-${name}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await lstat(folder);
  const uidOfOurs = process.getuid?.() ?? uid;
  if (uid !== uidOfOurs || (mode & 0o170777) !== 0o040700) {
    const remedy = 'Remove it, or choose a shorter folder with --data.';
    throw neverSent(`${folder} must be a folder of yours that nobody else can enter. ${remedy}`);
  }
  return join(folder, 'redis.sock');
}

/**
 * Deletes the temporary files of a Redis that was killed during a rewrite: no server reads or removes them, and they hold data that was
 * erased since.
 */
async function removeDrafts(data: string): Promise<void> {
  for (const folder of [data, join(data, 'appendonlydir')]) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (/^temp-.*\.(?:aof|rdb)$/.test(name)) await rm(join(folder, name), { force: true });
  }
}

interface KeeperSettings {
  binary: ServerBinary;
  dir: string;
  data: string;
  socket: string;
  fsync: 'always' | 'everysec';
  say: (line: string) => void;
}

/** Runs Redis, and restarts it when it dies, until it is stopped. */
class Keeper {
  readonly #settings: KeeperSettings;
  #child: ChildProcess | undefined;
  #exit: Promise<void> = Promise.resolve();
  #stopping = false;

  constructor(settings: KeeperSettings) {
    this.#settings = settings;
  }

  async start(): Promise<void> {
    const { socket, say, dir } = this.#settings;
    await this.#spawn();
    let running = true;
    void this.#exit.then(() => {
      running = false;
    });
    const begun = Date.now();
    for (let isReported = false; ; await sleep(5)) {
      const pulse = await ping(socket, 5_000);
      if (pulse === 'ready') break;
      if (!running) throw await this.#failure();
      if (!isReported && Date.now() - begun > 3_000) {
        say(`Redis reads the data in ${dir} …`);
        isReported = true;
      }
    }
    void this.#keep();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    child?.stdin?.end();
    const giveUp = new AbortController();
    const late = sleep(stopMs, true, { signal: giveUp.signal }).catch(() => false);
    if (await Promise.race([this.#exit.then(() => false), late])) {
      // Kills the whole process group: the shell, its watcher and Redis.
      if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await this.#exit;
    }
    giveUp.abort();
  }

  /** Restarts a Redis that ended by itself (out of memory, killed); clients reconnect. */
  async #keep(): Promise<void> {
    const { socket, say, dir } = this.#settings;
    for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
      const begun = Date.now();
      await this.#exit;
      if (this.#stopping) return;
      if (Date.now() - begun > 60_000) pauseMs = 100;
      say(`The embedded Redis has ended by itself; starting it again (its log: ${join(dir, 'redis.log')}).`);
      await sleep(pauseMs, undefined, { ref: false });
      // If the shell was killed, the old Redis lives until its watcher notices.
      while (!this.#stopping && (await ping(socket, 1_000)) !== 'dead') await sleep(50, undefined, { ref: false });
      if (this.#stopping) return;
      await this.#spawn();
    }
  }

  async #spawn(): Promise<void> {
    const { binary, dir, data, socket, fsync } = this.#settings;
    await removeDrafts(data);
    const args: [name: string, value: string][] = [
      ['port', '0'],
      ['unixsocket', socket],
      ['unixsocketperm', '700'],
      ['dir', data],
      ['pidfile', join(data, 'redis.pid')],
      ['appendonly', 'yes'],
      ['appendfsync', fsync],
      ['save', ''],
      ['maxmemory-policy', 'noeviction'],
      // Small hashes and sorted sets are packed. Every version knows these settings by their names from before Redis 7.
      ['hash-max-ziplist-entries', '1024'],
      ['hash-max-ziplist-value', '256'],
      ['zset-max-ziplist-entries', '512'],
      ['hz', '100'],
      ['daemonize', 'no'],
      ['loglevel', 'warning'],
    ];
    const log = await open(join(dir, 'redis.log'), 'w', 0o600);
    try {
      const child = spawn('sh', ['-c', wrapper, 'sh', binary.command, ...args.flatMap(([k, v]) => [`--${k}`, v])], {
        // Redis has a process group of its own: Ctrl-C must not end Redis before the workers have closed.
        detached: true,
        stdio: ['pipe', log.fd, log.fd],
        env: { ...process.env, ...binary.env },
      });
      this.#child = child;
      this.#exit = new Promise((done) => {
        child.once('exit', () => done());
        child.once('error', () => done());
      });
      // Redis alone does not keep this process alive.
      child.unref();
      if (child.stdin instanceof Socket) child.stdin.unref();
      child.stdin?.on('error', () => undefined);
    } finally {
      await log.close();
    }
  }

  async #failure(): Promise<Error> {
    const file = join(this.#settings.dir, 'redis.log');
    const lines = (await readFile(file, 'utf8').catch(() => '')).trim().split('\n').slice(-3).join('\n  ');
    return neverSent(`The embedded Redis did not start. From ${file}:\n  ${lines}`);
  }
}

/**
 * The state of a Redis at a unix socket: `ready` (+PONG), `loading` (Redis reads its files), `silent` (accepts connections, does not
 * answer), `dead` (nothing listens).
 */
type Pulse = 'ready' | 'loading' | 'silent' | 'dead';

/** Finds out the state of a Redis. Never rejects. */
export async function ping(socket: string, timeoutMs: number): Promise<Pulse> {
  return await new Promise((resolve) => {
    const connection = connect(socket);
    const end = (pulse: Pulse) => {
      connection.destroy();
      resolve(pulse);
    };
    connection.setTimeout(timeoutMs, () => end('silent'));
    connection.on('connect', () => connection.write('PING\r\n'));
    // Redis replies to such a short command in one piece.
    connection.on('data', (data) => end(data.toString('latin1').startsWith('+PONG') ? 'ready' : 'loading'));
    connection.on('error', () => end('dead'));
    connection.on('close', () => resolve('dead'));
  });
}
