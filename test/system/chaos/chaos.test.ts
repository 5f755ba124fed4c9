import { expect, test } from 'vitest';
import { isClean } from './auditor.ts';
import { chaos } from './run.ts';

// A longer one: npm run chaos -- --kills 200 --closings 5000
test('a short run loses nothing, asks nobody twice and writes nothing wrong', { timeout: 1_800_000 }, async ({
  signal,
}) => {
  const report = await chaos({ seed: 1, kills: 12, closings: 150, fsync: 'always', say: () => undefined, signal });
  // What is parked or undecidable says why in these reasons: a failure shows them.
  expect(report.findings).toEqual([]);
  expect(report.parkedReasons).toEqual([]);
  expect(report).toMatchObject({ seed: 1, kills: 12, crashes: 0 });
  expect(report.acknowledged).toBeGreaterThan(60);
  expect(report.requests).toBeGreaterThan(40);
  expect(isClean(report)).toBe(true);
});
