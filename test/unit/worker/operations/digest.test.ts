import { expect, test } from 'vitest';
import { lastWeek } from '../../../../worker/operations/alerts/digest.ts';

const rows: [name: string, digest: Parameters<typeof lastWeek>[0], now: string, from: string, until: string][] = [
  [
    'on the day, after the hour',
    { day: 'mon', at: '09:00' },
    '2026-11-23T07:00:00Z',
    '2026-11-16T07:00',
    '2026-11-23T07:00',
  ],
  [
    'on the day, before the hour',
    { day: 'mon', at: '09:00' },
    '2026-11-23T06:59:59Z',
    '2026-11-09T07:00',
    '2026-11-16T07:00',
  ],
  ['on another day', { day: 'sun', at: '23:30' }, '2026-11-24T12:00:00Z', '2026-11-15T21:30', '2026-11-22T21:30'],
  [
    'on the account’s day, which has begun there',
    { day: 'tue', at: '00:00' },
    '2026-11-23T22:30:00Z',
    '2026-11-16T22:00',
    '2026-11-23T22:00',
  ],
  [
    'over a change of the clocks',
    { day: 'mon', at: '09:00' },
    '2026-10-26T12:00:00Z',
    '2026-10-19T06:00',
    '2026-10-26T07:00',
  ],
  [
    'at an hour that the change leaves out',
    { day: 'sun', at: '03:30' },
    '2026-03-29T12:00:00Z',
    '2026-03-22T01:30',
    '2026-03-29T01:30',
  ],
];

test.each(rows)('the last digest was due %s', (_, digest, now, from, until) => {
  const week = lastWeek(digest, 'Europe/Tallinn', new Date(now));
  expect([week.from.toISOString(), week.until.toISOString()]).toEqual([`${from}:00.000Z`, `${until}:00.000Z`]);
});
