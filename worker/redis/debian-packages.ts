import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isCode } from './file-lock.ts';

const run = promisify(execFile);
const fetchMs = 180_000;

/** Runs a tool of the package system on the lists that were just fetched, and gives what it printed. */
export type PackageCall = (tool: 'apt-get' | 'apt-cache' | 'dpkg' | 'dpkg-query', ...args: string[]) => Promise<string>;

/**
 * Unpacks packages of Debian or Ubuntu below `root`, without root's rights and without touching anything else: the package lists,
 * the packages and their content are all there.
 * @param namesFrom which packages
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
    // Without a network it warns, and ends well: what comes next finds no packages.
    const [, unfetched] = /^W: (Failed to fetch .*)$/m.exec(warnings) ?? [];
    if (unfetched === undefined) throw cause;
    throw new Error(`is this machine offline? ${unfetched}`, { cause });
  }
  await rm(work, { recursive: true });
}

/** Moves a whole folder to its place. Another process may have been faster: what it put there stays. */
export async function moveInto(place: string, folder: string): Promise<void> {
  try {
    await rename(folder, place);
  } catch (error) {
    if (!isCode(error, 'ENOTEMPTY') && !isCode(error, 'EEXIST')) throw error;
  }
}
