import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useFolder } from '../../folder.ts';
import { type Loop, until } from '../../loop.ts';
import { useRedis } from '../../redis.ts';

export const daysAgo = (n: number) => new Date(Date.now() - n * 86_400_000);
export const idle = (loop: Loop) => until(async () => (await loop.app.engine.busy()) === 0);

/** For a file of tests that run commands in this process, beside loops that work: their Redis, their folder, their sources. */
export function useCommands() {
  const redis = useRedis();
  const dir = useFolder();
  let sources = 0;
  return {
    redis,
    dir,
    fresh: () => `command-${++sources}`,
    /** What a command that works beside this loop is given. */
    beside(loop: Loop) {
      const config = join(dir, `${loop.store.source}.yaml`);
      writeFileSync(config, `${loop.text}\nredis: { path: ${redis.socket} }\n`);
      return { config, data: dir, json: true, connectors: [loop.vendor.builtIn] };
    },
  };
}

/** What it prints on standard output, with its exit code. */
export async function printed(command: () => Promise<number>): Promise<{ code: number; out: string; rows: unknown[] }> {
  const write = process.stdout.write;
  let out = '';
  process.stdout.write = (text: string | Uint8Array, ...rest: unknown[]) => {
    out += String(text);
    const onWritten = rest.at(-1);
    if (typeof onWritten === 'function') onWritten();
    return true;
  };
  try {
    const code = await command();
    const isJson = /^[[{]/.test(out);
    return {
      code,
      out,
      rows: isJson
        ? out
            .trim()
            .split('\n')
            .map((line): unknown => JSON.parse(line))
        : [],
    };
  } finally {
    process.stdout.write = write;
  }
}

/** What it says on standard error meanwhile. */
export async function sayings(command: () => Promise<number>): Promise<{ code: number; said: string[] }> {
  const said: string[] = [];
  const write = process.stderr.write;
  process.stderr.write = (text: string | Uint8Array) => said.push(String(text)) > 0;
  try {
    const { code } = await printed(command);
    return { code, said };
  } finally {
    process.stderr.write = write;
  }
}
