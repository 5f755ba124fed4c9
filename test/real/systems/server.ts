import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const logs = resolve(import.meta.dirname, '../../../.closeloop/real');
const startMs = 120_000;

/**
 * Becomes the command in its arguments. When its standard input ends, as it does with this process, all that it started is killed:
 * nobody needs its data then.
 */
const untilInputEnds = 'exec 3<&0; { cat <&3 > /dev/null; kill -s KILL -- -$$; } & exec "$@" 3<&- < /dev/null';

interface Server {
  /** For its log. */
  name: string;
  command: readonly string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Asked until it is true. */
  isReady(): Promise<boolean>;
}

export interface RunningServer {
  /** All that it has said so far is in this file. */
  log: string;
  /** @param keepLog for whoever looks for what went wrong */
  stop(options?: { keepLog: boolean }): Promise<void>;
}

/** Starts a server that ends with this process at the latest. @throws Error with its last words when it does not get ready */
export async function startServer({ name, command, cwd, env, isReady }: Server): Promise<RunningServer> {
  await mkdir(logs, { recursive: true });
  const log = join(logs, `${name}-${process.pid}-${Date.now()}.log`);
  const file = openSync(log, 'w');
  // A group of its own: its workers end with it.
  const child = spawn('sh', ['-c', untilInputEnds, 'sh', ...command], {
    stdio: ['pipe', file, file],
    detached: true,
    ...(cwd !== undefined && { cwd }),
    ...(env && { env }),
  });
  closeSync(file);
  const ended = once(child, 'exit');
  const stop = async ({ keepLog }: { keepLog: boolean }) => {
    child.stdin?.end();
    await ended;
    if (!keepLog) await rm(log, { force: true });
  };
  for (const until = Date.now() + startMs; !(await isReady().catch(() => false)); await sleep(100)) {
    if (child.exitCode === null && child.signalCode === null && Date.now() < until) continue;
    await stop({ keepLog: true });
    throw new Error(`${name} did not start (all of it: ${log}):\n${await lastLines(log, 20)}`);
  }
  return { log, stop: (options = { keepLog: false }) => stop(options) };
}

export async function lastLines(file: string, count: number): Promise<string> {
  return (await readFile(file, 'utf8')).trim().split('\n').slice(-count).join('\n');
}
