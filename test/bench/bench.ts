import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from '../../build/bundle.ts';
import { type Measure, measured, type Report } from './harness.ts';
import { tableOf } from './table.ts';

// npm run bench [-- NAME…] [--json] [--short]; npm run bench -- profile
// npm run bench -- --against DIR: closings, in turns with the version that is checked out and installed in DIR
//
// Each measure is a file in measures/. The fakes of the help desk and the service, the product and its baseline are processes
// of their own; this one only sends deliveries. Linux only: what processes take is read from /proc.
const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    against: { type: 'string' },
  },
  allowPositionals: true,
});

// Whoever ends this process ends what it started.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

// The program as people have it installed, which loads faster than its many files here.
if (!values.short) {
  const installed = resolve(import.meta.dirname, '../../.closeloop/bench');
  await bundle(installed);
  process.env.CLOSELOOP_BENCH_PROGRAM = join(installed, 'worker/cli/closeloop.js');
}
const [{ measures }, { profile }] = await Promise.all([import('./measures/index.ts'), import('./profile.ts')]);

/** Builds the other version with its own tools. */
async function closingsInTurnsWith(dir: string): Promise<Measure> {
  const built = join(resolve(dir), '.closeloop/bench');
  const bundler = pathToFileURL(join(resolve(dir), 'build/bundle.ts')).href;
  const script = `await (await import(${JSON.stringify(bundler)})).bundle(${JSON.stringify(built)})`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  const { closingsAgainst } = await import('./measures/closings.ts');
  return closingsAgainst(`version in ${dir}`, join(built, 'worker/cli/closeloop.js'));
}

async function bench(): Promise<string> {
  if (positionals.includes('profile')) return await profile(mkdtempSync(join(tmpdir(), 'closeloop-profile-')));
  const chosen =
    values.against === undefined
      ? measures.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
      : [await closingsInTurnsWith(values.against)];
  const reports: Report[] = [];
  for (const measure of chosen) {
    process.stderr.write(`${measure.name} …\n`);
    reports.push(await measured(measure, values.short ? 'short' : 'full'));
  }
  return values.json ? JSON.stringify(reports, undefined, 2) : tableOf(reports);
}

const names = [...measures.map(({ name }) => name), 'profile'];
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no measure ${unknown.join(', ')}. These are: ${names.join(', ')}\n`);
  process.exit(2);
}
process.stdout.write(`${await bench()}\n`);
