import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openPart, type Stretch, slotAt } from '../../../../core/schedule/open-hours.ts';

const minute = 60_000;
const nine = Date.UTC(2026, 10, 23, 9);
const at = (from: number, until: number): Stretch => ({ from: nine + from * minute, until: nine + until * minute });

test.each<[string, number, number, Stretch[], number | undefined]>([
  ['begins with the opening', 0, 100, [at(0, 60)], 0],
  ['leaves as much between any two', 3, 60, [at(0, 60)], 3],
  ['ends before the closing', 59, 60, [at(0, 60)], 59],
  ['leaves out what is closed', 2, 4, [at(0, 60), at(120, 180)], 120],
  ['has no slot beyond the last', 60, 60, [at(0, 60)], undefined],
  ['has none where nothing is open', 0, 10, [], undefined],
])('slotAt %s', (_, n, count, open, minutes) => {
  expect(slotAt(n, count, open)).toBe(minutes === undefined ? undefined : nine + minutes * minute);
});

const stretches = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 3 * 60 }), fc.integer({ min: 1, max: 60 })), {
    minLength: 1,
    maxLength: 24,
  })
  .map((parts) => {
    let minutes = 0;
    return parts.map(([closed, open]) => {
      const from = minutes + closed;
      minutes = from + open;
      return at(from, minutes);
    });
  });

test('every slot is in open time, in order', () => {
  fc.assert(
    fc.property(stretches, fc.integer({ min: 1, max: 500 }), (open, count) => {
      const slots = Array.from({ length: count }, (_, n) => slotAt(n, count, open) ?? Number.NaN);
      for (const slot of slots) expect(open.some(({ from, until }) => from <= slot && slot < until)).toBe(true);
      expect(slots).toEqual(slots.toSorted((a, b) => a - b));
    }),
  );
});

test.each<[string, Stretch | undefined]>([
  ['the whole hour', at(0, 60)],
  ['its end', at(17, 60)],
  ['its beginning', at(0, 43)],
  ['a part within', at(5, 6)],
  ['nothing', undefined],
])('openPart finds what is open of an hour: %s', (_, open) => {
  const opensAt = (t: number) =>
    open === undefined || t >= open.until ? nine + 24 * 60 * minute : Math.max(t, open.from);
  expect(openPart(at(0, 60), opensAt)).toEqual(open);
});
