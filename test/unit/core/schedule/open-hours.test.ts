import { expect, test } from 'vitest';
import { clockText, hourOf, openDay } from '../../../../core/schedule/open-hours.ts';
import { nextSendTime } from '../../../../core/schedule/send-time.ts';

const zone = 'Europe/Tallinn';
const campaign = { sendFrom: '09:30:00', sendUntil: '20:00:00', sendDelayMinutes: null };
const opensAt = (at: number) =>
  nextSendTime({ now: new Date(at), closedAt: new Date(0), delayMs: 0, campaign, accountZone: zone }).at.getTime();
const onClock = (at: number) => clockText(at, zone);

test('a day has the hours in which its windows are open', () => {
  const { hours, open, from, until } = openDay(Date.parse('2026-11-23T18:00Z'), zone, opensAt);
  expect([from, until].map(onClock)).toEqual(['00:00', '00:00']);
  expect(hours.map(({ hour }) => onClock(hour))).toEqual(
    Array.from({ length: 11 }, (_, i) => `${String(9 + i).padStart(2, '0')}:00`),
  );
  expect(onClock(open[0]?.from ?? 0)).toBe('09:30');
  expect(hours.map(({ openMsThen }) => openMsThen / 1_800_000)).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21]);
});

test.each([
  ['2026-03-29T12:00Z', 23],
  ['2026-10-25T12:00Z', 25],
  ['2026-10-26T12:00Z', 24],
])('a day that is always open has as many hours as the clock makes of it: %s', (at, count) => {
  const { hours, from, until } = openDay(Date.parse(at), zone, (t) => t);
  expect([hours.length, (until - from) / 3_600_000]).toEqual([count, count]);
});

test('a day that begins at 01:00, as clocks go forward at midnight, ends where the next begins', () => {
  const { hours, from, until } = openDay(Date.parse('2032-04-30T12:00Z'), 'Africa/Cairo', (t) => t);
  expect([from, until].map((at) => new Date(at).toISOString())).toEqual([
    '2032-04-29T22:00:00.000Z',
    '2032-04-30T21:00:00.000Z',
  ]);
  expect(hours).toHaveLength(23);
});

test.each(['2027-04-04', '2026-10-04', '2026-11-23'])(
  'every instant lies in the hour of its day that it is told to, also where clocks change by half an hour: %s',
  (date) => {
    const lordHowe = 'Australia/Lord_Howe';
    const { hours, from, until } = openDay(Date.parse(`${date}T01:00Z`), lordHowe, (t) => t);
    const told = Array.from({ length: (until - from) / 600_000 }, (_, i) => hourOf(from + i * 600_000 + 1, lordHowe));
    expect([...new Set(told)]).toEqual(hours.map(({ hour }) => hour));
  },
);

test('an hour is that of the clock, and another day is written with its date', () => {
  const at = Date.parse('2026-11-23T12:47:11.5Z');
  expect(new Date(hourOf(at, 'Asia/Kolkata')).toISOString()).toBe('2026-11-23T12:30:00.000Z');
  expect(clockText(at, zone, at)).toBe('14:47');
  expect(clockText(at, zone, at - 86_400_000)).toBe('2026-11-23 14:47');
});
