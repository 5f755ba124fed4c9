import { expect, test } from 'vitest';
import { checkAgainstJsonata } from '../../support/core/jsonata-oracle.ts';

test('what is evaluated without JSONata is exactly what JSONata gives, faults and their places included', async () => {
  expect(await checkAgainstJsonata(10_000)).toBeGreaterThan(8_000);
});
