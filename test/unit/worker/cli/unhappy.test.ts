import { expect, test } from 'vitest';
import { unhappyUpTo } from '../../../../worker/cli/init/configuration.ts';

test.each([
  ['avg', [1, 2, 3, 4, 5], 2],
  ['csat', [1, 2, 3], 1],
  ['csat', [1, 2], 1],
  ['avg', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 4],
  ['nps', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 6],
  ['survey', [], 2],
] as const)('of %s campaigns with grades %j customers are unhappy up to %d', (metric, grades, upTo) => {
  expect(unhappyUpTo({ metric, grade_list: [...grades] })).toBe(upTo);
});
