import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextSendTime } from '../../../../core/schedule/send-time.ts';
import {
  begin,
  cases,
  checkAroundChanges,
  computed,
  end,
  inputOf,
  looked,
  zones,
} from '../../../support/core/quarters-oracle.ts';

/** All zones: test/system/send-times, in `npm run test:long`. */
const some = zones.filter((_, i) => i % 6 === 0);

describe('nextSendTime', () => {
  test('gives the first open instant around every clock change of some zones', () => {
    expect(checkAroundChanges(some)).toBeGreaterThan(10);
  });

  test('gives the first open instant for windows in two zones', () => {
    const place = fc.record({ zone: fc.constantFrom(...zones), around: fc.integer({ min: begin, max: end }) });
    fc.assert(
      fc.property(cases(place, true), (one) => void expect(computed(one)).toBe(looked(one))),
      { numRuns: 400 },
    );
  });

  test('gives the same instant when asked again at that instant, also where the service adds its delay', () => {
    const place = fc.record({ zone: fc.constantFrom(...zones), around: fc.integer({ min: begin, max: end }) });
    fc.assert(
      fc.property(cases(place, true), fc.boolean(), (one, serviceAddsDelay) => {
        fc.pre(computed(one) !== undefined);
        const input = { ...inputOf(one), campaign: { ...inputOf(one).campaign }, serviceAddsDelay };
        const { at } = nextSendTime(input);
        expect(at.getTime()).toBeGreaterThanOrEqual(one.now);
        expect(nextSendTime({ ...input, now: at }).at).toStrictEqual(at);
      }),
      { numRuns: 300 },
    );
  });
});
