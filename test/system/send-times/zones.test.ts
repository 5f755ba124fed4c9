import { expect, test } from 'vitest';
import { checkAroundChanges, zones } from '../../support/core/quarters-oracle.ts';

test('nextSendTime gives the first open instant around every clock change of every zone', () => {
  expect(checkAroundChanges(zones)).toBeGreaterThan(100);
});
