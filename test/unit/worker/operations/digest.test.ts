import { expect, test } from 'vitest';
import { lastWeek } from '../../../../worker/operations/alerts/digest.ts';

const rows: [name: string, digest: Parameters<typeof lastWeek>[0], now: string, from: string, until: string][] = [
  ['on the day, after the hour', { day: 'mon', at: '09:00' }, '11-23T07:00', '11-16T07:00', '11-23T07:00'],
  ['on the day, before the hour', { day: 'mon', at: '09:00' }, '11-23T06:59:59', '11-09T07:00', '11-16T07:00'],
  ['on another day', { day: 'sun', at: '23:30' }, '11-24T12:00', '11-15T21:30', '11-22T21:30'],
  ['on the account’s day, begun there', { day: 'tue', at: '00:00' }, '11-23T22:30', '11-16T22:00', '11-23T22:00'],
  ['over a change of the clocks', { day: 'mon', at: '09:00' }, '10-26T12:00', '10-19T06:00', '10-26T07:00'],
  ['at an hour that the change leaves out', { day: 'sun', at: '03:30' }, '03-29T12:00', '03-22T01:30', '03-29T01:30'],
];

const instant = (text: string) => new Date(`2026-${text}Z`);
test.each(rows)('the last digest was due %s', (_, digest, now, from, until) => {
  const week = lastWeek(digest, 'Europe/Tallinn', instant(now));
  expect([week.from, week.until]).toEqual([instant(from), instant(until)]);
});
