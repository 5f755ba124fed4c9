import { expect, test } from 'vitest';
import { fuzz } from './run.ts';

test('nothing that is sent crashes it, is let in without a signature, or gets a wrong status: short form', async () => {
  const { counts, violations, health } = await fuzz({ inputs: 20_000, seed: 1 });
  expect(violations).toEqual([]);
  const total = Object.values(counts).flatMap((outcomes) => Object.values(outcomes));
  expect(total.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(20_000);
  expect(health.length).toBeGreaterThan(0);
});
