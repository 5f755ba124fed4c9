import fc from 'fast-check';
import { expect, test } from 'vitest';
import { days, live, writing } from '../../support/generated-day.ts';
import { useManual } from '../../support/manual.ts';

const service = useManual();
const outcomes = new Set<string>();
let asked = 0;

test.each(Array.from({ length: 12 }, (_, i) => i))(
  'a dry run of generated days predicts what the same days in earnest do, closing by closing (seed %i)',
  async (seed) => {
    await fc.assert(
      fc.asyncProperty(days, async (day) => {
        const dry = await live(service, day, { dryRun: true });
        const earnest = await live(service, day, { dryRun: false });
        expect(dry.fates).toEqual(earnest.fates);
        expect(writing(dry)).toEqual([]);
        asked += earnest.calls['requests.create'] ?? 0;
        for (const { state, reason } of Object.values(dry.fates)) outcomes.add(reason ?? state);
      }),
      { numRuns: 5, seed, endOnFailure: true },
    );
  },
);

test('the days had every outcome that a rule or a policy can lead to', () => {
  const all = 'asked cancelled out never no-rule condition-failed too-old asked-already sample no-contact throttled';
  expect([...outcomes]).toEqual(expect.arrayContaining(all.split(' ')));
  expect(asked).toBeGreaterThan(50);
});
