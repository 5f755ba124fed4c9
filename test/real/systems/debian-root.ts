import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chown, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programOnPath, unpackPackages } from '../../../worker/redis/server-binary.ts';
import { madeOnce } from './made-once.ts';
import { lastLines } from './server.ts';

const run = promisify(execFile);
const path = process.env.PATH ?? '';

const webServer = 33; // www-data, in every Debian

/** Of apt's indexes those of Debian's own packages, without those of others that this machine may know. */
const debians = ['Created-By: Packages', 'Origin: Debian'];
const container = 'docker run --rm -it -v "$PWD:/closeloop" -w /closeloop node:24-bookworm npm run test:real';
const unneeded = ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'var/cache/apt', 'var/lib/apt/lists'];

interface Root {
  /** Which packages it has. */
  packages: readonly string[];
  /** Without them the suite is as it was released. */
  updates: boolean;
  /** Texts by where they are in it, added at last. */
  files?: Readonly<Record<string, string>>;
  /** Folders in it that the web server writes to. */
  writable?: readonly string[];
}

/**
 * A Debian in a folder of the tests' cache, with these packages set up in it. Nothing is mounted, nothing is installed on this
 * machine, and the packages start no service.
 * @throws Error, one line, where root, apt or Debian's sources are missing
 */
export async function debianRoot(name: string, root: Root): Promise<string> {
  const problem = await unmet(name);
  if (problem !== undefined) throw new Error(problem);
  const place = await madeOnce(`${name}-root`, [JSON.stringify(root)], async (draft) => {
    const { packages, updates, files = {}, writable = [] } = root;
    const folder = join(draft, 'root');
    const { sources, suite } = await fetchTool(join(draft, 'tool'), updates);
    if (suite === undefined) throw new Error(`${name}: this machine's apt knows no Debian. Try: ${container}`);
    const proxies = (await run('apt-config', ['dump'])).stdout.match(/^Acquire::https?::Proxy .*$/gim) ?? [];
    const options = [
      '--mode=root',
      '--variant=apt',
      // It mounts nothing, so that the rights of an ordinary container are enough.
      '--skip=chroot/mount,check/canmount,check/empty',
      `--include=${packages.join(',')}`,
      '--dpkgopt=force-unsafe-io',
      ...['APT::Install-Recommends "false"', ...proxies].map((line) => `--aptopt=${line}`),
    ];
    await build([join(draft, 'tool/usr/bin/mmdebstrap'), ...options, suite, folder, '-'], sources, join(draft, 'log'));
    for (const one of unneeded) await rm(join(folder, one), { recursive: true, force: true });
    for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text, { mode: 0o644 });
    for (const one of writable) await run('chown', ['-R', `${webServer}:${webServer}`, join(folder, one)]);
  });
  return join(place, 'root');
}

/** What this machine lacks, and what to type then. */
async function unmet(name: string): Promise<string | undefined> {
  if ((await programOnPath(['apt-get'], path)) === undefined)
    return `${name} is fetched from Debian's packages, and this machine has no apt. Try: ${container}`;
  if (process.getuid?.() !== 0)
    return `${name} runs in a Debian of its own (chroot), which needs root. Try: sudo env "PATH=$PATH" npm run test:real`;
  return undefined;
}

/** Unpacks what builds a root, and reads where this machine gets its Debian from. */
async function fetchTool(folder: string, updates: boolean): Promise<{ sources: string; suite: string | undefined }> {
  const lines: string[] = [];
  await unpackPackages(folder, path, async (call) => {
    const format = 'deb $(SITE) $(RELEASE) $(COMPONENT)';
    lines.push(...(await call('apt-get', 'indextargets', '--format', format, ...debians)).trim().split('\n'));
    return ['mmdebstrap'];
  });
  const isUpdates = /^deb \S+ \S+-(?:updates|security|backports)\S* /;
  const suite = lines.find((line) => line !== '' && !isUpdates.test(line))?.split(' ')[2];
  const sources = [...new Set(lines)].filter((line) => updates || !isUpdates.test(line));
  return { sources: `${sources.join('\n')}\n`, suite };
}

async function build(command: readonly string[], sources: string, log: string): Promise<void> {
  const file = openSync(log, 'w');
  const child = spawn('perl', command, { stdio: ['pipe', file, file] });
  closeSync(file);
  child.stdin?.end(sources);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`Debian's packages could not be set up:\n${await lastLines(log, 20)}`);
}

/** A folder for one server's data: where it is for us, and where it is for what runs inside `root`. */
export interface DataFolder {
  outside: string;
  inside: string;
}

export async function makeDataFolder(root: string): Promise<DataFolder> {
  const name = join('/var/lib/closeloop', randomUUID());
  const outside = join(root, name);
  await mkdir(outside, { recursive: true });
  await chown(outside, webServer, webServer);
  return { outside, inside: name };
}

/** Copies a file to the folder, for the web server to change. */
export async function copyInto({ outside }: DataFolder, file: string, name: string): Promise<void> {
  await copyFile(file, join(outside, name));
  await chown(join(outside, name), webServer, webServer);
}

/** A command that runs inside `root` as the web server's user, with this environment alone. */
export function inside(root: string, env: Readonly<Record<string, string>>, command: readonly string[]): string[] {
  const all = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/tmp', LANG: 'C.UTF-8', TZ: 'UTC', ...env };
  const variables = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  return ['chroot', '--userspec=www-data:www-data', root, '/usr/bin/env', '-i', ...variables, ...command];
}

/** Runs it to its end. @returns what it printed @throws Error with its last words */
export async function runInside(
  root: string,
  env: Readonly<Record<string, string>>,
  command: readonly string[],
  input = '',
): Promise<string> {
  const [program = '', ...args] = inside(root, env, command);
  const running = run(program, args, { maxBuffer: 2 ** 26 });
  running.child.stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(`${command.join(' ')} failed:\n${said.trim().split('\n').slice(-20).join('\n')}`);
  }
}
