import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { programOnPath } from '../../worker/redis/server-binary.ts';
import { fetchPackage } from './debian-packages.ts';
import { command } from './processes.ts';

/** What a shell offers at the end of a line. An empty list: files. */
export type Offers = (...line: readonly string[]) => Promise<string[]>;

/** What each shell needs around the script to show what it would offer for the words in "$@". */
const harness = {
  bash: `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _closeloop; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // As zsh's own completion does: the words that begin as the last one, without their descriptions.
  zsh: `_describe() { local -a all=("\${(@P)2}"); print -rl -- \${(M)\${all%%:*}:#\${words[CURRENT]}*} }; _files() { }
words=("$@"); CURRENT=$#; _closeloop; true`,
  fish: `complete -C "$argv" | string split -f 1 \\t; true`,
} as const;

/** A shell with closeloop's own script in it. @param path of the shell */
async function offersOf(shell: keyof typeof harness, path: string, env = {}): Promise<Offers> {
  const { out } = await command(['completion', shell]);
  const script = shell === 'zsh' ? `compdef() { }\n${out}` : out;
  const plain = { bash: ['--norc', '-c'], zsh: ['-f', '-c'], fish: ['--no-config', '-c'] }[shell];
  return async (...line) => {
    const named = shell === 'fish' ? line : [shell, ...line];
    const args = [...plain, `${script}\n${harness[shell]}`, ...named];
    const { stdout } = await promisify(execFile)(path, args, { env: { ...process.env, ...env } });
    return stdout
      .split('\n')
      .filter((offer) => offer !== '')
      .sort();
  };
}

export const bash = (): Promise<Offers> => offersOf('bash', 'bash');

/** Of the PATH, or Debian's package, fetched once. */
export async function fetchedShell(shell: 'zsh' | 'fish'): Promise<Offers> {
  const installed = await programOnPath([shell], process.env.PATH ?? '');
  if (installed !== undefined) return await offersOf(shell, installed);
  const root = await fetchPackage(shell, { alone: false });
  const folders = await readdir(join(root, 'usr/lib'), { withFileTypes: true });
  const libraries = folders.filter((one) => one.isDirectory()).map(({ name }) => join(root, 'usr/lib', name));
  const path = join(root, shell === 'zsh' ? 'bin/zsh' : 'usr/bin/fish');
  return await offersOf(shell, path, { LD_LIBRARY_PATH: libraries.join(delimiter) });
}

/** What every shell has to offer. */
export const lines: readonly [line: readonly string[], offers: readonly string[]][] = [
  [
    ['closeloop', 's'],
    ['setup', 'source', 'standin', 'start', 'status', 'surveys'],
  ],
  [
    ['closeloop', 'journeys', 're'],
    ['replay', 'resolve'],
  ],
  [['closeloop', 'contact', 'erasures', 'l'], ['list']],
  [['closeloop', 'start', '--ro'], ['--role']],
  [
    ['closeloop', 'start', '--role', ''],
    ['all', 'intake', 'worker'],
  ],
  [['closeloop', 'start', '--config', 'closeloop.yaml', '--role', 'w'], ['worker']],
  [['closeloop', 'standin', 'fr'], ['freshdesk']],
  [['closeloop', 'init', '--subd'], ['--subdomain']],
  [['closeloop', 'check', '--try'], []],
];
