import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { CloseloopError } from '../../core/errors.ts';

const run = promisify(execFile);

export interface ServerBinary {
  file: string;
  /** Folder of the libraries that came with a fetched one. */
  libraries?: string;
}

const names = ['redis-server', 'valkey-server'];
const packages = ['redis-tools', 'libjemalloc2', 'liblzf1'];

/**
 * A server from the PATH; else one unpacked under `cache` before; else, on Debian and Ubuntu, one fetched into `cache`
 * now, without root and without changing anything outside (facts/toolchain.md). `say` gets the one line about that.
 * @throws CloseloopError config, with what to type, where none can be had
 */
export async function findServer(cache: string, say: (line: string) => void): Promise<ServerBinary> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) {
      const file = join(folder, name);
      if (folder !== '' && isExecutable(file)) return { file };
    }
  }
  const fetched = unpacked(cache);
  if (fetched) return fetched;
  say('No redis-server on the PATH: fetching one into the project (about 2 s, once).');
  try {
    await fetchInto(cache);
  } catch (cause) {
    throw new CloseloopError(
      'No redis-server or valkey-server on the PATH, and none could be fetched here (that needs Debian or Ubuntu, and network). ' +
        'Install one ("brew install redis", "apt install redis-server", …), or start one ' +
        '("docker run -p 6379:6379 redis:7 --appendonly yes") and set "redis: redis://127.0.0.1:6379" in the configuration',
      { kind: 'config' },
      { cause },
    );
  }
  const server = unpacked(cache);
  if (!server)
    throw new CloseloopError(`The fetched package holds no Redis server; remove ${cache} and try again`, {
      kind: 'config',
    });
  return server;
}

function unpacked(cache: string): ServerBinary | undefined {
  const file = join(cache, 'usr/bin/redis-server');
  const lib = join(cache, 'usr/lib');
  if (!isExecutable(file) || !existsSync(lib)) return undefined;
  const [machine] = readdirSync(lib).filter((name) => name.includes('-linux-'));
  return { file, ...(machine === undefined ? {} : { libraries: join(lib, machine) }) };
}

/** Unpacks beside the cache and renames: a second process at the same time, or a kill, leaves nothing half done. */
async function fetchInto(cache: string): Promise<void> {
  const parent = join(cache, '..');
  mkdirSync(parent, { recursive: true });
  const work = mkdtempSync(join(parent, 'fetching-'));
  try {
    const apt = join(work, 'apt');
    const target = join(work, 'redis');
    for (const folder of ['lists/partial', 'archives/partial']) mkdirSync(join(apt, folder), { recursive: true });
    mkdirSync(target);
    const options = [
      `Dir::State::Lists=${apt}/lists`,
      `Dir::Cache=${apt}`,
      'Debug::NoLocking=1',
      'APT::Sandbox::User=',
    ].flatMap((option) => ['-o', option]);
    await run('apt-get', [...options, 'update', '-qq'], { cwd: apt });
    await run('apt-get', [...options, 'download', '-qq', ...packages], { cwd: apt });
    for (const deb of readdirSync(apt).filter((name) => name.endsWith('.deb'))) {
      await run('dpkg', ['-x', join(apt, deb), target]);
    }
    // The package ships the server under this name; called by the other one, it is the server.
    symlinkSync('redis-check-rdb', join(target, 'usr/bin/redis-server'));
    try {
      renameSync(target, cache);
    } catch (error) {
      // Another process was first; its copy is as good.
      if (!unpacked(cache)) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
