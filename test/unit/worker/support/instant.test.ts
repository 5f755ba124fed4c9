import { expect, test } from 'vitest';
import { instant } from '../../../../worker/support/instant.ts';

const tallinn = 'Europe/Tallinn';
/** Half past midnight in Tallinn on 26 October, the day after one of 25 hours; still 25 October in UTC. */
const now = new Date('2026-10-25T22:30:00Z');
const rows: [name: string, written: string, zone: string, means: string][] = [
  ["a day begins on the account's clock", '2026-11-21', tallinn, '2026-11-20T22:00:00.000Z'],
  ['a date and time', '2026-11-21T08:30', tallinn, '2026-11-21T06:30:00.000Z'],
  ['milliseconds stay', '2026-11-21T08:30:00.250', tallinn, '2026-11-21T06:30:00.250Z'],
  ["today begins with the account's midnight", 'today', tallinn, '2026-10-25T22:00:00.000Z'],
  ['yesterday had 25 hours', 'yesterday', tallinn, '2026-10-24T21:00:00.000Z'],
  ["the day is the account's", 'Today', 'America/New_York', '2026-10-25T04:00:00.000Z'],
  ['an offset has the last word', '2026-11-21T08:30:00-05:00', tallinn, '2026-11-21T13:30:00.000Z'],
  ['UTC', '2026-11-21T08:30:00Z', 'Asia/Tokyo', '2026-11-21T08:30:00.000Z'],
  ['an hour that a clock change skips moves on by the change', '2026-03-29T03:30', tallinn, '2026-03-29T01:30:00.000Z'],
  ['an hour that comes twice is the first', '2026-10-25T03:30', tallinn, '2026-10-25T00:30:00.000Z'],
  ['a day without a midnight begins an hour later', '2026-03-08', 'America/Havana', '2026-03-08T05:00:00.000Z'],
];
test.each(rows)('%s: %s in %s (audit 32)', (_name, written, zone, means) => {
  expect(instant(written, '--since', { timeZone: zone, now }).toISOString()).toBe(means);
});

test.each(['tomorrow', '2026-02-31', '08:30', '2026-11-21T25:00', '2026-11-21T08:30[Europe/Tallinn]', ''])(
  '"%s" is refused, with what would be right (audit 32)',
  (written) => {
    expect(() => instant(written, '--since', { timeZone: tallinn, now })).toThrow(
      /--since must be a day.*in the account's zone, Europe/,
    );
  },
);
