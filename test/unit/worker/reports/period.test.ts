import { expect, test } from 'vitest';
import { instantsOf, periodBefore, thirtyDaysUntil } from '../../../../worker/reports/period.ts';

test.each([
  [
    { since: '2026-03-01', until: '2026-03-31' },
    { since: '2026-01-29', until: '2026-02-28' },
  ],
  [
    { since: '2026-11-22', until: '2026-11-22' },
    { since: '2026-11-21', until: '2026-11-21' },
  ],
])('the period before %o is as long and ends the day before it', (period, before) => {
  expect(periodBefore(period)).toEqual(before);
});

test('thirty days have their last day among them', () => {
  expect(thirtyDaysUntil('2026-03-01')).toEqual({ since: '2026-01-31', until: '2026-03-01' });
});

test('a period lasts from midnight to midnight of the account, also when the clocks change', () => {
  expect(instantsOf({ since: '2026-10-25', until: '2026-10-25' }, 'Europe/Tallinn')).toEqual({
    from: new Date('2026-10-24T21:00:00Z'),
    until: new Date('2026-10-25T22:00:00Z'),
  });
});
