import { Console } from 'node:console';
import { Command, InvalidArgumentError } from 'commander';
import { measureStores } from './bench.ts';
import { goThrough, outages, type Report } from './outages.ts';

// Every outage of Redis at its full length, one after the other, under load: `npm run outages -- [--seconds 60]
// [--only WORD]`. Prints a table at the end; 1 when anything was lost, asked twice, given up, told wrongly or late, or held.
const options = new Command('outages')
  .description('Every outage of Redis at its full length, one after the other, under load.')
  .option('--seconds <n>', 'how long each one lasts', wholeSeconds, 60)
  .option('--only <word>', 'only those whose name holds this word', '')
  .addHelpText('after', `\nOutages:\n${outages.map(({ name }) => `  ${name}`).join('\n')}`)
  // 1 is for what was lost, asked twice or held.
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ seconds: number; only: string }>();
const chosen = outages.filter(({ name }) => name.includes(options.only));
if (chosen.length === 0) {
  process.stderr.write(`No outage is named like "${options.only}": see --help.\n`);
  process.exit(2);
}

function wholeSeconds(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 1) throw new InvalidArgumentError('It must be a whole number, more than 0.');
  return n;
}

const everyMs = 10;
/** Deliveries come all the time: what was refused comes again. */
const closings = 500;
/** Vendors are answered within this, but for what this process itself stood still on a busy machine. */
const answerMs = 2_000;
const mostHeldMb = 20;

const terminal = new Console(process.stdout);
const say = (line: string) => void process.stderr.write(`${line}\n`);

function flaws({ wronglyRefused, lost, askedTwice, fallen, slowestAnswerMs, lagMs, heldMoreMb }: Report): string[] {
  return [
    ...wronglyRefused.map((what) => `a delivery was told ${what}`),
    ...lost.map((id) => `${id} lost`),
    ...askedTwice.map((id) => `${id} asked twice`),
    ...fallen,
    ...(slowestAnswerMs > answerMs + lagMs ? [`an answer took ${slowestAnswerMs} ms`] : []),
    ...(heldMoreMb > mostHeldMb ? [`${heldMoreMb} MB held`] : []),
  ];
}

const reports: Report[] = [];
for (const outage of chosen) {
  say(`${outage.name} …`);
  const run = { lastsMs: options.seconds * 1_000, closings, everyMs };
  const report = await goThrough(outage, run, (waitingFor) => say(`  waits for ${waitingFor}`));
  for (const flaw of flaws(report)) say(`  ${flaw}`);
  reports.push(report);
}
terminal.table(
  reports.map((report) => ({
    outage: report.outage,
    seconds: report.seconds,
    refused: report.refused,
    'slowest answer, ms': report.slowestAnswerMs,
    'first asked after, ms': report.resumedMs,
    'caught up after, ms': report.caughtUpMs,
    'held, MB': report.heldMoreMb,
    'CPU, %': report.cpuPercent,
    lost: report.lost.length,
    'asked twice': report.askedTwice.length,
    'given up': report.fallen.length,
  })),
);
if (options.only === '') terminal.table(await measureStores());
process.exit(reports.some((report) => flaws(report).length > 0) ? 1 : 0);
