import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstOpenAt, isOpen } from '../../../../standins/feedback/send-window.ts';
import { parseTimeOfDay, Zone } from '../../../../standins/feedback/zone.ts';

const clock = (text: string): number => parseTimeOfDay(text) ?? Number.NaN;
const hour = 3_600_000;

describe('firstOpenAt', () => {
  const rows: [says: string, zone: string, from: string, until: string, at: string, expected: string][] = [
    [
      'is now while the window is open',
      'Europe/Tallinn',
      '09:00',
      '20:00',
      '2026-03-10T07:00:00Z',
      '2026-03-10T07:00:00Z',
    ],
    ['is tomorrow at the very end', 'Europe/Tallinn', '09:00', '20:00', '2026-03-10T18:00:00Z', '2026-03-11T07:00:00Z'],
    [
      'is always now when both ends are equal',
      'Europe/Tallinn',
      '09:00',
      '09:00',
      '2026-03-10T03:00:00Z',
      '2026-03-10T03:00:00Z',
    ],
    [
      'opens at the change when the opening hour is left out',
      'Europe/Tallinn',
      '03:30',
      '05:00',
      '2026-03-29T00:00:00Z',
      '2026-03-29T01:00:00Z',
    ],
    [
      'opens the next day when the whole window is left out',
      'Europe/Tallinn',
      '03:15',
      '03:45',
      '2026-03-29T00:00:00Z',
      '2026-03-30T00:15:00Z',
    ],
    [
      'opens the first time when the hour is repeated',
      'Europe/Tallinn',
      '03:30',
      '05:00',
      '2026-10-24T23:00:00Z',
      '2026-10-25T00:30:00Z',
    ],
    [
      'opens the second time when the first has passed and closed',
      'Europe/Tallinn',
      '03:30',
      '05:00',
      '2026-10-25T01:10:00Z',
      '2026-10-25T01:30:00Z',
    ],
    ['knows zones of half an hour', 'Asia/Kolkata', '09:00', '20:00', '2026-03-10T00:00:00Z', '2026-03-10T03:30:00Z'],
  ];
  test.for(rows)('%s', ([, zone, from, until, at, expected]) => {
    const opens = firstOpenAt({ from: clock(from), until: clock(until) }, new Zone(zone), Date.parse(at));
    expect(new Date(opens)).toEqual(new Date(expected));
  });

  test('never lies in the past, is open, and nothing before it is', () => {
    const zones = [
      'Europe/Tallinn',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'Pacific/Apia',
      'UTC',
    ].map((id) => new Zone(id));
    const minute = fc.integer({ min: 0, max: 24 * 60 - 1 }).map((value) => value * 60_000);
    const instant = fc.date({ min: new Date('2010-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(fc.constantFrom(...zones), minute, minute, instant, (zone, from, until, date) => {
        const window = { from, until };
        const at = date.getTime();
        const opens = firstOpenAt(window, zone, at);
        expect(opens).toBeGreaterThanOrEqual(at);
        expect(isOpen(window, zone, opens)).toBe(true);
        expect(opens - at).toBeLessThanOrEqual(50 * hour);
        if (opens > at)
          for (let before = at; before < opens; before += 60_000) expect(isOpen(window, zone, before)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});

describe('Zone', () => {
  test.for([
    ['Europe/Tallinn', '2026-03-10T10:00:00.123Z', '2026-03-10T12:00:00.123000+02:00'],
    ['America/St_Johns', '2026-01-10T10:00:00Z', '2026-01-10T06:30:00.000000-03:30'],
    ['Asia/Kathmandu', '2026-01-10T22:00:00Z', '2026-01-11T03:45:00.000000+05:45'],
    ['UTC', '2026-01-10T22:00:00Z', '2026-01-10T22:00:00.000000+00:00'],
  ] as const)('%s writes %s as %s', ([zone, at, expected]) => {
    expect(new Zone(zone).timestamp(Date.parse(at))).toBe(expected);
  });
});
