import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WaitingClosing } from '../../../../../worker/journey/waiting-closings.ts';
import { chosenBefore } from '../../../../../worker/pipeline/policy/throttled.ts';

const closing = (journey: string, closed: number, due: number): WaitingClosing => ({
  journey,
  campaign: 12,
  closedAt: new Date(closed),
  dueAt: new Date(due),
});
const chosen = (own: WaitingClosing, ...others: WaitingClosing[]) => chosenBefore(own, others)?.journey;

const first = closing('a', 1, 10);
test.each<[what: string, own: WaitingClosing, others: WaitingClosing[], expected: string | undefined]>([
  ['one that waits alone is asked about', first, [], undefined],
  [
    'the last that was closed until the first is due comes before it',
    first,
    [closing('b', 4, 13), closing('c', 9, 18)],
    'c',
  ],
  ['… also at the very instant', first, [closing('b', 10, 19)], 'b'],
  ['one that was closed later comes not', first, [closing('b', 11, 12)], undefined],
  [
    'the chosen one does not wait for one that was closed after the first was due',
    closing('b', 4, 13),
    [first, closing('c', 11, 20)],
    undefined,
  ],
  [
    'one that was closed after that, and is due before the chosen one, is asked about',
    closing('c', 11, 11),
    [first, closing('b', 4, 13)],
    undefined,
  ],
  ['an earlier one is nothing to wait for', closing('b', 4, 13), [first], undefined],
  ['of two of one instant the name decides', first, [closing('b', 1, 10)], 'b'],
  ['… for both the same', closing('b', 1, 10), [first], undefined],
])('%s', (_, own, others, expected) => expect(chosen(own, ...others)).toBe(expected));

/** Closings of one person, each due some time after it. */
const several = fc
  .array(fc.record({ closed: fc.nat(30), delay: fc.nat(20) }), { minLength: 1, maxLength: 8 })
  .map((all) => all.map(({ closed, delay }, i) => closing(`j${i}`, closed, closed + delay)));

test('of any that wait one is asked about as the last of those closed until the first is due, and nobody waits for nobody', () => {
  fc.assert(
    fc.property(several, (all) => {
      const firstDue = Math.min(...all.map(({ dueAt }) => dueAt.getTime()));
      const inTime = all.filter(({ closedAt }) => closedAt.getTime() <= firstDue);
      const [best] = inTime.toSorted(
        (a, b) => b.closedAt.getTime() - a.closedAt.getTime() || (a.journey < b.journey ? 1 : -1),
      );
      for (const own of all) {
        const expected = inTime.includes(own) && own !== best ? best?.journey : undefined;
        expect(
          chosenBefore(
            own,
            all.filter((one) => one !== own),
          )?.journey,
        ).toBe(expected);
      }
    }),
  );
});
