import { Command, InvalidArgumentError } from 'commander';
import { type FuzzReport, fuzz } from './run.ts';

/** `npm run fuzz`: everything that reaches closeloop from outside, as nobody should send it, and what became of it. */
const program = new Command('fuzz')
  .description('Sends and hands closeloop what it should refuse or survive, and counts by class what became of it.')
  .option('--inputs <n>', 'how many, over all classes', wholeNumber, 20_000)
  .option('--seed <n>', 'the same seed gives the same inputs', wholeNumber)
  .option('--class <name>', 'only this class, with --input')
  .option('--input <n>', 'only this input of the class', wholeNumber)
  .option('--json', 'the last line is one JSON object', false)
  // 1 is for a violation.
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .addHelpText('after', '\nExample:\n  npm run fuzz -- --inputs 1000000 --seed 7');

function wholeNumber(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 0) throw new InvalidArgumentError('It must be a whole number.');
  return n;
}

/** Judged here only: a machine that is busy with other things says nothing about them. */
const limits = { memoryBytes: 400 * 1024 * 1024, healthMs: 250 };

interface Options {
  inputs: number;
  seed?: number;
  class?: string;
  input?: number;
  json: boolean;
}

const options = program.parse().opts<Options>();
const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
const begun = Date.now();
const say = (line: string): void => {
  process.stderr.write(`${String(Math.round((Date.now() - begun) / 1000)).padStart(5)} s  ${line}\n`);
};

function table({ counts, violations, peakBytes, health }: FuzzReport, p99: number): string {
  const rows = Object.entries(counts).flatMap(([name, outcomes]) => [
    [name, Object.values(outcomes).reduce((sum, n) => sum + n, 0)] as const,
    ...Object.entries(outcomes)
      .sort(([, a], [, b]) => b - a)
      .map(([outcome, n]) => [`  ${outcome}`, n] as const),
  ]);
  const of = (kind: string): number => violations.filter((one) => one.kind === kind).length;
  const total = rows.filter(([name]) => !name.startsWith(' ')).reduce((sum, [, n]) => sum + n, 0);
  const ends = [
    ['inputs', total],
    ['crashes', of('crash')],
    ['forgeries let in', of('forgery')],
    ['wrong statuses', of('status')],
    ['most resident memory, MB', Math.round(peakBytes / 1e6)],
    [`/healthz p99 of ${health.length}, ms`, Math.round(p99)],
    ['seconds', Math.round((Date.now() - begun) / 1000)],
  ] as const;
  return [...rows, ['', ''] as const, ...ends].map(([name, n]) => `${name.padEnd(34)} ${n}`).join('\n');
}

const only = options.class === undefined ? undefined : { name: options.class, input: options.input ?? 0 };
say(`seed ${seed}`);
const report = await fuzz({ inputs: options.inputs, seed, only, say });
const p99 = report.health[Math.floor(report.health.length * 0.99)] ?? 0;
process.stdout.write(`${table(report, p99)}\n`);
for (const { name, input, kind, what } of report.violations) {
  const again = `npm run fuzz -- --seed ${seed} --class "${name}" --input ${input}`;
  process.stdout.write(`\n${kind}: ${name} ${input}\n  ${what}\n  ${again}\n`);
}
const isOver = report.peakBytes > limits.memoryBytes || p99 > limits.healthMs;
if (isOver && !only) process.stdout.write('\nmemory or /healthz is over its limit (400 MiB, 250 ms)\n');
const isClean = report.violations.length === 0 && (!isOver || only !== undefined);
if (options.json) {
  const { counts, violations, peakBytes } = report;
  process.stdout.write(`${JSON.stringify({ seed, isClean, counts, violations, peakBytes, healthP99Ms: p99 })}\n`);
}
process.exit(isClean ? 0 : 1);
