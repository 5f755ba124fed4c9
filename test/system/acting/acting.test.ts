import { expect, test } from 'vitest';
import { actingRun } from './run.ts';

// A longer one: npm run acting -- --answers 1000 --kills 60
test('at every vendor what an answer leads to is done once, whatever is killed', { timeout: 1_800_000 }, async () => {
  const report = await actingRun({ answers: 60, kills: 6, seed: 1, say: () => undefined });
  expect(report.findings).toEqual([]);
  expect(report).toMatchObject({ answered: 72, kills: 6, crashes: [] });
  expect(report.acted).toBeGreaterThan(15);
  expect(report.corrected).toBeGreaterThan(4);
});
