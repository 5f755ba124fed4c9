import fc from 'fast-check';
import { expect, test } from 'vitest';
import { days, live, writing } from '../../../support/generated-day.ts';
import { useManual } from '../../../support/manual.ts';

const service = useManual();

// Many more days, and what becomes of closings in all of them: test/system/dry-run.
test('a dry run of a day predicts what the same day in earnest does, closing by closing', async () => {
  await fc.assert(
    fc.asyncProperty(days, async (day) => {
      const dry = await live(service, day, { dryRun: true });
      const earnest = await live(service, day, { dryRun: false });
      expect(dry.fates).toEqual(earnest.fates);
      expect(writing(dry)).toEqual([]);
    }),
    { numRuns: 1, endOnFailure: true },
  );
});
