import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pause } from './load.ts';
import { renamedDesk, sources } from './planned-record.ts';
import type { Kept } from './processes.ts';
import type { Chance } from './random.ts';

const closeloop = resolve(import.meta.dirname, '../../../worker/cli/closeloop.js');

/**
 * Renames the help desk as its operator would, while everything else goes on: the configuration first, then every process
 * is started anew, then "source rename" until it says that it is done. The first calls of that command are killed.
 */
export async function renameDesk(options: {
  config: string;
  logs: string;
  chance: Chance;
  /** Writes the configuration with the new name. */
  configure: () => void;
  processes: readonly Kept[];
  say: (line: string) => void;
  signal: AbortSignal;
}): Promise<void> {
  const { config, logs, chance, configure, processes, say, signal } = options;
  configure();
  say(`the help desk is called ${renamedDesk} in the configuration: each process is started anew`);
  for (const one of processes) await one.suffer({ how: 'SIGTERM', forMs: 0 });
  for (let call = 1; ; call++) {
    const killedAfterMs = call <= 3 ? chance.int(600, 4_000) : undefined;
    const code = await runRename(config, logs, killedAfterMs);
    say(`source rename, call ${call}: ${code === null ? 'killed' : `exit ${code}`}`);
    if (code === 0) return;
    await pause(500, signal);
  }
}

async function runRename(config: string, logs: string, killedAfterMs: number | undefined): Promise<number | null> {
  mkdirSync(logs, { recursive: true });
  const log = openSync(join(logs, 'rename.log'), 'a');
  const args = ['source', 'rename', sources.desk, renamedDesk, '--config', config];
  const child = spawn(process.execPath, [closeloop, ...args], { stdio: ['ignore', log, log] });
  const timer = killedAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killedAfterMs);
  await once(child, 'close');
  clearTimeout(timer);
  closeSync(log);
  return child.exitCode;
}
