import { parseArgs } from 'node:util';
import { measured, type Report } from './harness.ts';
import { measures } from './measures/index.ts';
import { tableOf } from './table.ts';

// npm run bench [-- NAME…] [--json] [--short]
//
// Each measure is a file in measures/. The fakes of the help desk and the service, the product and its baseline are processes
// of their own; this one only sends deliveries. Linux only: what processes take is read from /proc.
const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false }, short: { type: 'boolean', default: false } },
  allowPositionals: true,
});

const unknown = positionals.filter((name) => !measures.some((one) => one.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no measure ${unknown.join(', ')}. These are: ${measures.map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(2);
}

const chosen = measures.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const reports: Report[] = [];
for (const measure of chosen) {
  process.stderr.write(`${measure.name} …\n`);
  reports.push(await measured(measure, values.short ? 'short' : 'full'));
}
process.stdout.write(values.json ? `${JSON.stringify(reports, undefined, 2)}\n` : `${tableOf(reports)}\n`);
