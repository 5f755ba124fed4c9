import { expect, test } from 'vitest';
import { chaos } from './run.ts';

// A longer one: npm run chaos -- --kills 200 --closings 5000
test('a short run loses nothing, asks nobody twice and writes nothing wrong', { timeout: 1_800_000 }, async ({
  signal,
}) => {
  const report = await chaos({ seed: 1, kills: 12, closings: 150, fsync: 'always', say: () => undefined, signal });
  expect(report.findings).toEqual([]);
  // A failure shows why. What is undecidable is parked as well, and rightly so: it is left to a person.
  expect(report.parked, report.parkedReasons.join('\n')).toBe(0);
  expect(report).toMatchObject({ seed: 1, kills: 12, crashes: 0 });
  expect(report.acknowledged).toBeGreaterThan(60);
  expect(report.requests).toBeGreaterThan(40);
});
