import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { access, constants, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CloseloopError, isCode, messageOf } from '../../core/errors.ts';
import { takeLock } from './file-lock.ts';

const run = promisify(execFile);

/** A Redis server program, and the environment that it needs beside the environment of closeloop. */
export interface ServerBinary {
  command: string;
  env: Record<string, string>;
}

interface FindOptions {
  /** The folder for a fetched server; created when needed. */
  cache: string;
  path: string;
  say: (line: string) => void;
}

/**
 * Finds the Redis or Valkey on the PATH, else the server in the cache; else, on Debian and Ubuntu, fetches a server into the cache
 * without root and without changing anything else.
 * @throws CloseloopError config, with the command to type, where no server can be found or fetched.
 */
export async function findServerBinary({ cache, path, say }: FindOptions): Promise<ServerBinary> {
  const installed = await programOnPath(['redis-server', 'valkey-server'], path);
  if (installed) return { command: installed, env: {} };
  const cached = await inCache(cache);
  if (cached) return cached;

  await mkdir(dirname(cache), { recursive: true });
  // A second fetch at the same time waits for the first, to save the download.
  for (;;) {
    const lock = await takeLock(`${cache}.lock`);
    if (!lock.free) {
      await sleep(100);
      continue;
    }
    try {
      return (await inCache(cache)) ?? (await fetchInto(cache, path, say));
    } finally {
      await lock.release();
    }
  }
}

/** The file of the first of these programs that a folder of the PATH contains. */
export async function programOnPath(names: readonly string[], path: string): Promise<string | undefined> {
  for (const name of names) {
    for (const folder of path.split(delimiter).filter((entry) => entry !== '')) {
      const file = join(folder, name);
      if (await isProgram(file)) return file;
    }
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** The server in the cache. Undefined also for a server that doesn't run here, as it was fetched on another system, or before a system upgrade. */
async function inCache(cache: string): Promise<ServerBinary | undefined> {
  const found = await serverIn(cache);
  return (await isProgram(found.command)) && (await flawOf(found)) === undefined ? found : undefined;
}

/** The server among unpacked packages. Its libraries lie in a folder named after the machine's architecture. */
async function serverIn(root: string): Promise<ServerBinary> {
  const base = join(root, 'usr/lib');
  const folders = (await readdir(base, { withFileTypes: true }).catch(() => [])).filter((entry) => entry.isDirectory());
  const LD_LIBRARY_PATH = folders.map(({ name }) => join(base, name)).join(delimiter);
  return { command: join(root, 'usr/bin/redis-server'), env: { LD_LIBRARY_PATH } };
}

async function flawOf({ command, env }: ServerBinary): Promise<string | undefined> {
  try {
    await run(command, ['--version'], { env: { ...process.env, ...env }, timeout: 10_000 });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

async function fetchInto(cache: string, path: string, say: (line: string) => void): Promise<ServerBinary> {
  const tools = ['apt-get', 'apt-cache', 'dpkg', 'dpkg-query'];
  const found = await Promise.all(tools.map((tool) => programOnPath([tool], path)));
  if (found.includes(undefined)) throw noServer('and this system has no apt-get to fetch one with');
  say(`No Redis on this machine: fetching one into ${cache} (once; nothing else changes) …`);

  const draft = `${cache}.${randomUUID()}.tmp`;
  try {
    await unpackPackages(draft, path, neededPackages);
    const flaw = await flawOf(await serverIn(draft));
    if (flaw !== undefined) throw noServer(`and the one that was fetched does not run here (${flaw})`);
    await rm(cache, { recursive: true, force: true });
    await moveInto(cache, draft);
  } catch (error) {
    if (error instanceof CloseloopError) throw error;
    throw noServer(`and fetching one failed (${reasonOf(error)})`, error);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return await serverIn(cache);
}

/** The program is in redis-tools; the package redis-server only has a link to it. The list includes the libraries that the system lacks. */
async function neededPackages(call: PackageCall): Promise<string[]> {
  const only = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map((kind) => `--no-${kind}`);
  const needed = await call('apt-cache', 'depends', '--recurse', ...only, 'redis-tools');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own notation
  const installed = await call('dpkg-query', '-W', '-f', '${db:Status-Abbrev} ${Package}\n');
  const present = new Set(installed.split('\n').flatMap((line) => line.match(/^ii\S*\s+(\S+)/)?.[1] ?? []));
  const missing = needed.split('\n').filter((line) => /^[a-z0-9][a-z0-9+.-]*$/.test(line) && !present.has(line));
  return [...new Set([...missing, 'redis-tools', 'redis-server'])];
}

function noServer(why: string, cause?: unknown): CloseloopError {
  const message = [
    `There is no redis-server or valkey-server on the PATH, ${why}. Do one of these, then start again:`,
    '  macOS:           brew install redis',
    '  Debian, Ubuntu:  sudo apt-get install redis-server',
    '  Docker:          docker run -d -p 6379:6379 -v closeloop:/data redis:7 redis-server --appendonly yes --maxmemory-policy noeviction',
    '                   and set REDIS_URL=redis://127.0.0.1:6379',
  ].join('\n');
  return new CloseloopError(message, { kind: 'config' }, { cause });
}

/** The reason why a tool failed: the last line of its output is the most useful. */
function reasonOf(error: unknown): string {
  if (isCode(error, 'ENOENT')) return 'a program is missing';
  const printed = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const text = printed !== '' ? printed : messageOf(error);
  return text.split('\n').at(-1)?.replace(/\s+/g, ' ').slice(0, 300) ?? '';
}

const fetchMs = 180_000;

/** Runs a tool of the package system on the lists that were just fetched, and returns its output. */
export type PackageCall = (tool: 'apt-get' | 'apt-cache' | 'dpkg' | 'dpkg-query', ...args: string[]) => Promise<string>;

/**
 * Unpacks packages of Debian or Ubuntu below `root`, without root's rights and without changing anything else: the package lists,
 * the packages and their content all lie below `root`.
 * @param namesFrom chooses the packages
 */
export async function unpackPackages(
  root: string,
  path: string,
  namesFrom: (call: PackageCall) => Promise<readonly string[]>,
): Promise<void> {
  const work = join(root, 'apt');
  for (const folder of ['lists/partial', 'archives/partial']) await mkdir(join(work, folder), { recursive: true });
  const options = [
    `Dir::State::Lists=${join(work, 'lists')}`,
    `Dir::Cache=${work}`,
    'Debug::NoLocking=1',
    'APT::Sandbox::User=',
    'Acquire::Retries=2',
    'Acquire::http::Timeout=20',
  ].flatMap((option) => ['-o', option]);
  const all = { cwd: work, timeout: fetchMs, maxBuffer: 2 ** 26, env: { ...process.env, PATH: path, LC_ALL: 'C' } };
  const call: PackageCall = async (tool, ...args) =>
    (await run(tool, tool.startsWith('apt-') ? [...options, ...args] : args, all)).stdout;

  const { stderr: warnings } = await run('apt-get', [...options, 'update', '-qq'], all);
  try {
    await call('apt-get', 'download', '-qq', ...(await namesFrom(call)));
    for (const file of await readdir(work)) {
      if (file.endsWith('.deb')) await call('dpkg', '-x', join(work, file), root);
    }
  } catch (cause) {
    // Without a network apt-get only warns and succeeds: then the next steps find no packages.
    const [, unfetched] = /^W: (Failed to fetch .*)$/m.exec(warnings) ?? [];
    if (unfetched === undefined) throw cause;
    throw new Error(`is this machine offline? ${unfetched}`, { cause });
  }
  await rm(work, { recursive: true });
}

/** Moves a whole folder to its place. If another process was faster, its folder stays. */
export async function moveInto(place: string, folder: string): Promise<void> {
  try {
    await rename(folder, place);
  } catch (error) {
    if (!isCode(error, 'ENOTEMPTY') && !isCode(error, 'EEXIST')) throw error;
  }
}

/**
 * The folder for a fetched server, shared by all working folders of a user. `own` is used where the user has no such folder, or
 * where `own` exists already.
 */
export function serverCache(own: string, env: Env): string {
  const shared = existsSync(own) ? undefined : userCache(env);
  return shared === undefined ? own : join(shared, 'redis-server');
}

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * A folder of this user for files that all working folders may share: `closeloop` in `XDG_CACHE_HOME` or `~/.cache`, made where it is
 * missing. Undefined where there is no such folder, or where another user can write there: closeloop runs programs from this folder, and with
 * another user's `HOME` (sudo keeps it) the programs would be that user's.
 */
export function userCache({ XDG_CACHE_HOME: xdg = '', HOME: home = '' }: Env): string | undefined {
  // By the XDG Base Directory Specification a path that is not absolute is ignored.
  const base = isAbsolute(xdg) ? xdg : isAbsolute(home) ? join(home, '.cache') : undefined;
  if (base === undefined) return undefined;
  const folder = join(base, 'closeloop');
  try {
    for (const one of [base, folder]) makeFolder(one);
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { uid, mode } = lstatSync(folder);
    return uid === (process.getuid?.() ?? uid) && (mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Creates a folder without its parents: in /proc, which is the home of some users, Node would try to create parents for ever. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  }
}
