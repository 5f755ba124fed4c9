import { spawnSync } from 'node:child_process';
import { Console } from 'node:console';
import { globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';

// File by file, against the tests of its own folder: a mutant of a constant has to be tried on all of them. A file that
// hasn't changed since its last run is not run again, so this can be stopped and goes on there. See README.md.
const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const leastPercent = 85;
const results = '.closeloop/mutation';

const Results = z.object({
  files: z.record(z.string(), z.object({ mutants: z.array(z.object({ status: z.string() })) })),
});
const Settings = z.object({ mutate: z.array(z.string()) });

function filesToMutate(): string[] {
  const { mutate } = Settings.parse(JSON.parse(readFileSync(join(import.meta.dirname, 'stryker.config.json'), 'utf8')));
  const but = mutate.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  const not = new Set(globSync(but));
  return globSync(mutate.filter((pattern) => !pattern.startsWith('!')))
    .filter((file) => !not.has(file) && file.includes(values.only))
    .sort();
}

/** What became of each mutant. Undefined: Stryker isn't installed, or a test failed before anything was changed. */
function run(file: string): string[] | undefined {
  const resultsFile = join(results, `${file.replaceAll('/', '-')}.json`);
  const settings = ['--mutate', file, '--incrementalFile', resultsFile];
  const env = { ...process.env, MUTATION_TESTS: join('test/*', dirname(file), '*.test.ts') };
  const begun = Date.now();
  const command = ['stryker', 'run', join(import.meta.dirname, 'stryker.config.json'), ...settings];
  spawnSync('npx', ['--no-install', ...command], { stdio: ['ignore', 2, 2], env });
  if ((statSync(resultsFile, { throwIfNoEntry: false })?.mtimeMs ?? 0) < begun) return undefined;
  const { files } = Results.parse(JSON.parse(readFileSync(resultsFile, 'utf8')));
  return Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
}

function row(file: string, statuses: readonly string[]) {
  const count = (...which: string[]) => statuses.filter((status) => which.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const mutants = killed + count('Survived', 'NoCoverage');
  return { file, mutants, killed, percent: mutants === 0 ? 100 : Math.round((killed / mutants) * 1_000) / 10 };
}

mkdirSync(results, { recursive: true });
const runs = filesToMutate().map((file) => ({ file, statuses: run(file) }));
const total = row(
  'all',
  runs.flatMap(({ statuses }) => statuses ?? []),
);
const rows = runs.map(({ file, statuses }) =>
  statuses ? row(file, statuses) : { file, mutants: 'not run, see above' },
);
new Console(process.stdout).table([...rows, total]);
const isWhole = runs.length > 0 && runs.every(({ statuses }) => statuses);
process.exitCode = isWhole && total.percent >= leastPercent ? 0 : 1;
