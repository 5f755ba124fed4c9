import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle } from '../../build/bundle.ts';
import { measured, type Report } from './harness.ts';
import { tableOf } from './table.ts';

// npm run bench [-- NAME…] [--json] [--short]; npm run bench -- profile
//
// Each measure is a file in measures/. The fakes of the help desk and the service, the product and its baseline are processes
// of their own; this one only sends deliveries. Linux only: what processes take is read from /proc.
const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false }, short: { type: 'boolean', default: false } },
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

async function bench(): Promise<string> {
  if (positionals.includes('profile')) return await profile(mkdtempSync(join(tmpdir(), 'closeloop-profile-')));
  const chosen = measures.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
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
