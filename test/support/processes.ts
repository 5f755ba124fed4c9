import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { z } from 'zod';

export const closeloop = resolve(import.meta.dirname, '../../worker/cli/closeloop.js');

export interface Finished {
  code: number | null;
  out: string;
  err: string;
}

/** One closeloop command in a process of its own, to its end. */
export async function command(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  const child = start(args, env);
  let [out, err] = ['', ''];
  child.stdout?.on('data', (text: Buffer) => {
    out += text.toString();
  });
  child.stderr?.on('data', (text: Buffer) => {
    err += text.toString();
  });
  const [code] = z.tuple([z.number().nullable(), z.unknown()]).parse(await once(child, 'close'));
  return { code, out, err };
}

export interface Running {
  child: ChildProcess;
  /** Everything on standard output so far. */
  output(): string;
  /** And on standard error. */
  errors(): string;
  /** Resolves with the first match on standard output. @throws when the process ends before */
  says(pattern: RegExp): Promise<string>;
  /** Resolves with its exit code when it has ended, and all that it said is here. */
  ended: Promise<number | null>;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
}

/** One closeloop command that goes on running; `entry`: of another closeloop than this checkout. */
export function background(args: readonly string[], env: Record<string, string> = {}, entry = closeloop): Running {
  const child = start(args, env, entry);
  let [output, err] = ['', ''];
  child.stdout?.on('data', (text: Buffer) => {
    output += text.toString();
  });
  child.stderr?.on('data', (text: Buffer) => {
    err += text.toString();
  });
  const ended = once(child, 'close').then(([code]) => z.number().nullable().parse(code));
  return {
    child,
    output: () => output,
    errors: () => err,
    ended,
    async says(pattern) {
      for (;;) {
        const found = pattern.exec(output)?.[0];
        if (found !== undefined) return found;
        if (child.exitCode !== null) throw new Error(`closeloop ${args[0]} ended with ${child.exitCode}: ${err}`);
        await new Promise((done) => setTimeout(done, 20));
      }
    },
    async stop() {
      child.kill('SIGTERM');
      return await ended;
    },
  };
}

function start(args: readonly string[], env: Record<string, string>, entry = closeloop): ChildProcess {
  return spawn(process.execPath, [entry, ...args], {
    // NODE_OPTIONS: what is loaded into this process is loaded into its children (test/conformance).
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      NODE_OPTIONS: process.env.NODE_OPTIONS ?? '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** A stand-in in a process of its own, and its control surface. */
export async function standin(name: string, entry = closeloop) {
  const running = background(['standin', name], {}, entry);
  const url = await running.says(/http:\/\/127\.0\.0\.1:\d+/);
  return { url, control: controlOf(url, name), stop: running.stop };
}

/** The control surface of a stand-in. */
export function controlOf(url: string, name: string) {
  return async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${url}/_control/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${name} ${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
}
