import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstOpenAt, isOpen, parseTimeOfDay, Zone } from '../../../../standins/feedback/zone.ts';

describe('a window first opens', () => {
  const clock = (text: string): number => parseTimeOfDay(text) ?? Number.NaN;
  test.each<[says: string, from: string, until: string, at: string, expected: string, zone?: string]>([
    ['now while it is open', '09:00', '20:00', '2026-03-10T07:00', '2026-03-10T07:00'],
    ['tomorrow at the very end', '09:00', '20:00', '2026-03-10T18:00', '2026-03-11T07:00'],
    ['always now when both ends are equal', '09:00', '09:00', '2026-03-10T03:00', '2026-03-10T03:00'],
    ['at the change when the hour is left out', '03:30', '05:00', '2026-03-29T00:00', '2026-03-29T01:00'],
    ['the next day when all of it is left out', '03:15', '03:45', '2026-03-29T00:00', '2026-03-30T00:15'],
    ['the first time when the hour is repeated', '03:30', '05:00', '2026-10-24T23:00', '2026-10-25T00:30'],
    ['the second time when the first is over', '03:30', '05:00', '2026-10-25T01:10', '2026-10-25T01:30'],
    ['in zones of half an hour', '09:00', '20:00', '2026-03-10T00:00', '2026-03-10T03:30', 'Asia/Kolkata'],
  ])('%s', (_says, from, until, at, expected, zone = 'Europe/Tallinn') => {
    const opens = firstOpenAt({ from: clock(from), until: clock(until) }, new Zone(zone), Date.parse(`${at}Z`));
    expect(new Date(opens)).toEqual(new Date(`${expected}Z`));
  });

  test('never in the past, and nothing before it is open', () => {
    const zones = ['Europe/Tallinn', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', 'UTC'];
    const zone = fc.constantFrom(...zones.map((id) => new Zone(id)));
    const minute = fc.integer({ min: 0, max: 24 * 60 - 1 }).map((value) => value * 60_000);
    const instant = fc.date({ min: new Date('2010-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(zone, minute, minute, instant, (zone, from, until, date) => {
        const at = date.getTime();
        const opens = firstOpenAt({ from, until }, zone, at);
        expect([opens >= at, isOpen({ from, until }, zone, opens)]).toEqual([true, true]);
        expect(opens - at).toBeLessThanOrEqual(50 * 3_600_000);
        for (let t = at; t < opens; t += 60_000) expect(isOpen({ from, until }, zone, t)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});
