import { describe, expect, test } from 'vitest';
import { isDecentHour, periodNow, periodsUpTo } from '../../../../worker/mails/due.ts';

const timeZone = 'Europe/Tallinn';
const week = { since: '2026-11-16', until: '2026-11-22' };

describe('the period that a mail is about', () => {
  test.each([
    ['week', '2026-11-22T21:59:00Z', '2026-11-09', '2026-11-15'],
    ['week', '2026-11-22T22:00:00Z', '2026-11-16', '2026-11-22'],
    ['week', '2026-11-29T12:00:00Z', '2026-11-16', '2026-11-22'],
    ['week', '2026-03-30T00:00:00Z', '2026-03-23', '2026-03-29'],
    ['week', '2027-01-04T06:00:00Z', '2026-12-28', '2027-01-03'],
    ['month', '2026-10-31T21:59:00Z', '2026-09-01', '2026-09-30'],
    ['month', '2026-10-31T22:00:00Z', '2026-10-01', '2026-10-31'],
    ['month', '2027-03-15T12:00:00Z', '2027-02-01', '2027-02-28'],
  ] as const)('by %s, at %s, is %s to %s on the calendar of the account', (every, now, since, until) => {
    expect(periodNow(every, { timeZone, now: new Date(now) })).toEqual({ since, until });
  });

  test('is the last of those in the chart, which follow on each other', () => {
    expect(periodsUpTo('week', week, 3)).toEqual([
      { since: '2026-11-02', until: '2026-11-08' },
      { since: '2026-11-09', until: '2026-11-15' },
      week,
    ]);
    expect(periodsUpTo('month', { since: '2027-02-01', until: '2027-02-28' }, 3)).toEqual([
      { since: '2026-12-01', until: '2026-12-31' },
      { since: '2027-01-01', until: '2027-01-31' },
      { since: '2027-02-01', until: '2027-02-28' },
    ]);
  });
});

describe('a mail about the week until Sunday, 22 November', () => {
  test.each<[string, string, boolean, { at?: string; zone?: string }?]>([
    ['goes out at its hour on Monday', '2026-11-23T06:00:00Z', true],
    ['not before', '2026-11-23T05:59:00Z', false],
    ['late in the day', '2026-11-23T17:59:00Z', true],
    ['not in the evening', '2026-11-23T18:00:00Z', false],
    ['the next morning then', '2026-11-24T06:00:00Z', true],
    ['not at night', '2026-11-24T02:00:00Z', false],
    ['at an hour in the evening that was wanted', '2026-11-23T19:30:00Z', true, { at: '21:00' }],
    ['by the clock of the receiver', '2026-11-23T12:59:00Z', false, { zone: 'America/New_York' }],
    ['by that clock after a while', '2026-11-23T13:00:00Z', true, { zone: 'America/New_York' }],
    ['not while it is Sunday there still', '2026-11-22T22:30:00Z', false, { at: '08:00', zone: 'America/Los_Angeles' }],
    ['where Monday has come long before', '2026-11-22T22:00:00Z', true, { zone: 'Pacific/Auckland' }],
  ])('%s (%s)', (_name, now, isDue, { at = '08:00', zone } = {}) => {
    expect(isDecentHour({ at, zone }, week, { timeZone, now: new Date(now) })).toBe(isDue);
  });
});
