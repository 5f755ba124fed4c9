import { parseArgs } from 'node:util';
import { actingRun } from './run.ts';

// npm run acting -- --answers 1000 --kills 60 [--seed 7]: the last line is the report, as JSON. Exit code 1: something was found.
const { values } = parseArgs({
  options: {
    answers: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const [answers, kills, seed] = [values.answers, values.kills, values.seed].map(Number);
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const report = await actingRun({ answers: answers ?? 0, kills: kills ?? 0, seed: seed ?? 0, say });
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
process.exitCode = report.findings.length > 0 || report.crashes.length > 0 ? 1 : 0;
