import { spawnSync } from 'node:child_process';
import { Console } from 'node:console';
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';

// File by file, against the tests of its own folder: a mutant of a constant has to be tried on all of them. A file that
// hasn't changed since its last run is not run again, so this can be stopped and goes on there. See README.md.
const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const leastPercent = 85;
const results = '.closeloop/mutation';

const Status = z.enum([
  'Killed',
  'Timeout',
  'Survived',
  'NoCoverage',
  'CompileError',
  'RuntimeError',
  'Ignored',
  'Pending',
]);
const Results = z.object({ files: z.record(z.string(), z.object({ mutants: z.array(z.object({ status: Status })) })) });
const Settings = z.object({ mutate: z.array(z.string()) });

function filesToMutate(): string[] {
  const { mutate } = Settings.parse(JSON.parse(readFileSync(join(import.meta.dirname, 'stryker.config.json'), 'utf8')));
  const but = mutate.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  const not = new Set(globSync(but));
  return globSync(mutate.filter((pattern) => !pattern.startsWith('!')))
    .filter((file) => !not.has(file) && file.includes(values.only))
    .sort();
}

function run(file: string): z.output<typeof Status>[] {
  const resultsFile = join(results, `${file.replaceAll('/', '-')}.json`);
  mkdirSync(results, { recursive: true });
  const settings = [
    join(import.meta.dirname, 'stryker.config.json'),
    '--mutate',
    file,
    '--incrementalFile',
    resultsFile,
  ];
  const env = { ...process.env, MUTATION_TESTS: join('test', dirname(file), '*.test.ts') };
  const { status } = spawnSync('npx', ['stryker', 'run', ...settings], { stdio: ['ignore', 2, 2], env });
  if (!existsSync(resultsFile))
    throw new Error(`${file}: Stryker ended with ${status}; is it installed? See README.md`);
  const { files } = Results.parse(JSON.parse(readFileSync(resultsFile, 'utf8')));
  return Object.values(files).flatMap(({ mutants }) => mutants.map((mutant) => mutant.status));
}

function row(file: string, statuses: readonly string[]) {
  const count = (...which: string[]) => statuses.filter((status) => which.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const mutants = killed + count('Survived', 'NoCoverage');
  return { file, mutants, killed, percent: mutants === 0 ? 100 : Math.round((killed / mutants) * 1_000) / 10 };
}

const all: string[] = [];
const table = filesToMutate().map((file) => {
  const statuses = run(file);
  all.push(...statuses);
  return row(file, statuses);
});
const total = row('all', all);
new Console(process.stdout).table([...table, total]);
process.exitCode = total.percent < leastPercent ? 1 : 0;
