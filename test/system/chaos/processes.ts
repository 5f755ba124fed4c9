import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ping } from '../../../worker/redis/embedded.ts';
import { findServerBinary } from '../../../worker/redis/server-binary.ts';
import { serverCache } from '../../support/redis-cache.ts';
import type { ProcessFault } from './plan.ts';

/** A process that is started again whenever it has ended, until `end`. */
export interface Kept {
  readonly name: string;
  /** Runs and answers. */
  readonly isUp: boolean;
  /** How it ended by itself, each time: nobody had killed it. */
  readonly crashes: readonly string[];
  /** Does this to it when it is up, waiting until it is. Resolves when it has been started (or woken) again. */
  suffer(fault: Pick<ProcessFault, 'how' | 'forMs'>): Promise<void>;
  /** Has it read its configuration again. Resolves when it says that it has, or has been started again. */
  reload(): Promise<void>;
  end(): Promise<void>;
}

const children = new Set<ChildProcess>();
// However this process ends, short of its own SIGKILL, nothing that it has started stays behind.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

interface KeepOptions {
  name: string;
  spawn: () => ChildProcess;
  /** Resolves when the process can do its work. */
  ready: (child: ChildProcess) => Promise<void>;
  onDown?: () => void;
}

function keep({ name, spawn: start, ready, onDown }: KeepOptions): Kept {
  let child: ChildProcess | undefined;
  let [isUp, isEnding] = [false, false];
  const crashes: string[] = [];
  let pauseMs: number | undefined;

  const run = async (): Promise<void> => {
    while (!isEnding) {
      const current = start();
      child = current;
      children.add(current);
      const ended = once(current, 'close');
      void ready(current).then(() => {
        isUp = child === current && current.exitCode === null && current.signalCode === null;
      });
      const [code, signal] = await ended;
      isUp = false;
      children.delete(current);
      onDown?.();
      if (pauseMs === undefined && !isEnding) {
        crashes.push(`${new Date().toISOString()} ${name} ended with ${signal ?? code}`);
      }
      await sleep(pauseMs ?? 200);
      pauseMs = undefined;
    }
  };
  const running = run();

  const up = async (): Promise<ChildProcess | undefined> => {
    while (!isEnding) {
      if (isUp && child) return child;
      await sleep(20);
    }
    return undefined;
  };

  return {
    name,
    get isUp() {
      return isUp;
    },
    crashes,
    async suffer({ how, forMs }) {
      const victim = await up();
      if (!victim) return;
      if (how === 'SIGSTOP') {
        victim.kill('SIGSTOP');
        await sleep(forMs);
        victim.kill('SIGCONT');
        return;
      }
      pauseMs = forMs;
      isUp = false;
      const ended = once(victim, 'close');
      victim.kill(how);
      await ended;
      await up();
    },
    async reload() {
      const reader = await up();
      if (!reader) return;
      const reloaded = Promise.withResolvers<void>();
      reader.stdout?.on('data', (text: Buffer) => {
        if (text.includes('the configuration was')) reloaded.resolve();
        // Its Redis was away, say: it goes on with the configuration that it has, and has to be told again.
        if (text.includes('the configuration could not be reloaded')) {
          setTimeout(() => reader.kill('SIGHUP'), 500).unref();
        }
      });
      const ended = once(reader, 'close').then(up);
      reader.kill('SIGHUP');
      await Promise.race([reloaded.promise, ended]);
    },
    async end() {
      isEnding = true;
      child?.kill('SIGCONT');
      child?.kill('SIGKILL');
      await running;
    },
  };
}

const closeloop = resolve(import.meta.dirname, '../../../worker/cli/closeloop.js');
const Started = z.object({ msg: z.literal('started'), hooks: z.string().optional() });

interface CloseloopOptions {
  role: 'intake' | 'worker' | 'all';
  /** Of its log, which is for people: nothing here believes it but for where it listens. */
  name: string;
  config: string;
  logs: string;
  /** The path of another version's command; left out: this checkout's. */
  command?: string;
  env?: Record<string, string>;
  /** Of an intake: where it listens now; `undefined` when it has ended. */
  onUrl?: (url: string | undefined) => void;
}

function spawnCloseloop({ role, config, env, name, logs, command = closeloop }: CloseloopOptions): ChildProcess {
  mkdirSync(logs, { recursive: true });
  const log = openSync(join(logs, `${name}.log`), 'a');
  const child = spawn(process.execPath, [command, 'start', '--config', config, '--role', role], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', log],
  });
  child.stdout?.on('data', (text: Buffer) => void writeSync(log, text));
  child.once('close', () => closeSync(log));
  return child;
}

/** Resolves when it says that it works. */
async function untilStarted(child: ChildProcess, { onUrl }: Pick<CloseloopOptions, 'onUrl'>): Promise<void> {
  if (!child.stdout) return;
  for await (const line of createInterface({ input: child.stdout })) {
    const { data } = line.includes('"started"') ? Started.safeParse(JSON.parse(line)) : {};
    if (!data) continue;
    if (data.hooks !== undefined) onUrl?.(new URL(data.hooks).origin);
    break;
  }
  // Leaving the loop has paused it, and a full pipe would hold the process up.
  child.stdout.resume();
}

export function keepCloseloop(options: CloseloopOptions): Kept {
  return keep({
    name: options.name,
    spawn: () => spawnCloseloop(options),
    ready: (child) => untilStarted(child, options),
    onDown: () => options.onUrl?.(undefined),
  });
}

/** One process, once. */
export function runCloseloop(options: CloseloopOptions) {
  const child = spawnCloseloop(options);
  children.add(child);
  const ended = once(child, 'close').then(([code, signal]) => {
    children.delete(child);
    options.onUrl?.(undefined);
    return z.union([z.number(), z.string()]).parse(signal ?? code);
  });
  return {
    started: untilStarted(child, options),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    /** By this signal, or with this code. */
    ended,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A Redis with an append-only file, which is killed like the others. */
export async function keepRedis(options: { dir: string; socket: string; fsync: 'always' | 'everysec' }): Promise<Kept> {
  const { dir, socket, fsync } = options;
  mkdirSync(dir, { recursive: true });
  const binary = await findServerBinary({ cache: serverCache, path: process.env.PATH ?? '', say: () => undefined });
  const settings = {
    port: '0',
    unixsocket: socket,
    dir,
    appendonly: 'yes',
    appendfsync: fsync,
    save: '',
    'maxmemory-policy': 'noeviction',
    loglevel: 'warning',
    logfile: join(dir, 'redis.log'),
  };
  const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]);
  return keep({
    name: 'redis',
    spawn: () => spawn(binary.command, args, { env: { ...process.env, ...binary.env }, stdio: 'ignore' }),
    ready: async (child) => {
      while (child.exitCode === null && child.signalCode === null && (await ping(socket, 1_000)) !== 'ready') {
        await sleep(20);
      }
    },
  });
}
