import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';

const run = promisify(execFile);
const bench = resolve(import.meta.dirname, '../bench/bench.ts');

const Reports = z.array(
  z.object({
    name: z.string(),
    machine: z.object({ isBusy: z.boolean(), othersShare: z.number() }),
    findings: z.array(
      z.object({
        measure: z.string(),
        closeloop: z.object({ median: z.number() }),
        rounds: z.number(),
        counted: z.number().optional(),
        isReached: z.boolean().optional(),
      }),
    ),
  }),
);

/** What one round of the short form does, by the count of the other side. */
const counts = {
  closings: 60,
  deliveries: 100,
  commands: undefined,
  memory: 60,
  bytes: 60,
  pages: 300,
  lateness: 60,
  export: 3_000,
  processes: 60,
  'write-backs': 60,
};

// Never a time: only that the figures are of what they say they are.
test.each(Object.entries(counts))('the benchmark of %s completes, and counts what was done', async (name, counted) => {
  const { stdout } = await run(process.execPath, [bench, name, '--short', '--json'], { maxBuffer: 2 ** 24 });
  const [report] = Reports.parse(JSON.parse(stdout));
  expect(report?.name).toBe(name);
  for (const { measure, closeloop, ...finding } of report?.findings ?? []) {
    expect({ measure, isAFigure: closeloop.median > 0 }).toEqual({ measure, isAFigure: true });
    expect({ measure, counted: finding.counted }).toEqual({ measure, counted });
    expect(finding.rounds).toBeGreaterThan(0);
    if (report?.machine.isBusy) expect(finding).not.toHaveProperty('isReached');
  }
});
