import fc from 'fast-check';
import jsonata from 'jsonata';
import { expect, test } from 'vitest';
import { truth } from '../../../../core/mapping/expression.ts';

test("what is true is what JSONata's $boolean says, for any JSON value", async () => {
  const boolean = jsonata('$boolean(value)');
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom('', 0, null, [], [[]], [0], [''], [0, 1], {}, { a: null }));
  await fc.assert(
    fc.asyncProperty(value, async (one) => {
      expect(truth(one) ?? false).toBe((await boolean.evaluate({ value: one })) ?? false);
    }),
    { numRuns: 2_000 },
  );
});

test('nothing is neither true nor false', () => {
  expect(truth(undefined)).toBeUndefined();
});
