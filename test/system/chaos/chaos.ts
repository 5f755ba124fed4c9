import { existsSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { isClean } from './auditor.ts';
import { chaos, type Report } from './run.ts';

/** `npm run chaos`: the whole loop in real processes, killed and lied to, and an auditor who counts. */
const program = new Command('chaos')
  .description(
    'Kills closeloop and its Redis, breaks its vendors, and counts what was lost, asked twice or written wrong.',
  )
  .option('--kills <n>', 'processes killed or stopped', wholeNumber, 30)
  .option('--closings <n>', 'closings at the two vendors', wholeNumber, 500)
  .option('--seed <n>', 'the same seed gives the same load and the same faults', wholeNumber)
  .option('--everysec', 'Redis writes its file once a second, not with every answer (appendfsync)', false)
  .option(
    '--dir <dir>',
    'where logs and data go; left out: a temporary folder, removed after a clean run without crashes',
  )
  .option('--json', 'the last line is one JSON object', false)
  // 1 is for what was lost, asked twice or written wrong.
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .addHelpText('after', '\nExample:\n  npm run chaos -- --kills 200 --closings 5000 --seed 7');

function wholeNumber(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 0) throw new InvalidArgumentError('It must be a whole number.');
  return n;
}

interface Options {
  kills: number;
  closings: number;
  seed?: number;
  everysec: boolean;
  dir?: string;
  json: boolean;
}

const options = program.parse().opts<Options>();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
const begun = Date.now();
const say = (line: string): void => {
  process.stderr.write(`${String(Math.round((Date.now() - begun) / 1000)).padStart(5)} s  ${line}\n`);
};

function table(report: Report): string {
  const rows: [string, unknown][] = [
    ['acknowledged', report.acknowledged],
    ['requests', report.requests],
    ['answered', report.answered],
    ['lost', report.lost],
    ['asked twice', report.askedTwice],
    ['asked wrongly', report.askedWrongly],
    ['forbidden', report.forbidden],
    ['erased', report.erased],
    ['not erased', report.notErased],
    ['dropped', report.dropped],
    ['written wrong', report.writtenWrong],
    ['parked', report.parked],
    ['undecidable', report.undecidable],
    ['put off', report.putOff],
    ['kills done', report.kills],
    ['crashes', report.crashes],
    [
      'deliveries',
      Object.entries(report.deliveries)
        .map(([met, n]) => `${met}: ${n}`)
        .join(', '),
    ],
    ['seed', report.seed],
    ['seconds', report.seconds],
  ];
  return rows.map(([name, value]) => `${name.padEnd(14)} ${value}`).join('\n');
}

try {
  const seed = options.seed ?? begun % 1_000_000;
  const report = await chaos({
    ...{ seed, kills: options.kills, closings: options.closings, say, signal: stop.signal },
    fsync: options.everysec ? 'everysec' : 'always',
    ...(options.dir === undefined ? {} : { dir: options.dir }),
  });
  for (const line of [...report.findings, ...report.parkedReasons.map((why) => `parked: ${why}`)]) say(line);
  process.stdout.write(`${table(report)}\n`);
  if (existsSync(report.dir)) say(`logs and data: ${report.dir}`);
  if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
  process.exitCode = isClean(report) ? 0 : 1;
} catch (error) {
  if (!stop.signal.aborted) throw error;
  say('stopped');
  process.exitCode = 130;
}
