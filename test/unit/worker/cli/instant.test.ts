import { expect, test } from 'vitest';
import { instant } from '../../../../worker/cli/instant.ts';

const tallinn = 'Europe/Tallinn';
const rows: [name: string, written: string, zone: string, means: string][] = [
  ["a day begins on the account's clock", '2026-11-21', tallinn, '2026-11-20T22:00:00.000Z'],
  ['a date and time', '2026-11-21T08:30', tallinn, '2026-11-21T06:30:00.000Z'],
  ['milliseconds stay', '2026-11-21T08:30:00.250', tallinn, '2026-11-21T06:30:00.250Z'],
  ['an offset has the last word', '2026-11-21T08:30:00-05:00', tallinn, '2026-11-21T13:30:00.000Z'],
  ['UTC', '2026-11-21T08:30:00Z', 'Asia/Tokyo', '2026-11-21T08:30:00.000Z'],
  ['an hour that a clock change skips moves on by the change', '2026-03-29T03:30', tallinn, '2026-03-29T01:30:00.000Z'],
  ['an hour that comes twice is the first', '2026-10-25T03:30', tallinn, '2026-10-25T00:30:00.000Z'],
  ['a day without a midnight begins an hour later', '2026-03-08', 'America/Havana', '2026-03-08T05:00:00.000Z'],
];
test.each(rows)('%s: %s in %s (audit 32)', (_name, written, zone, means) => {
  expect(instant(written, '--since', zone).toISOString()).toBe(means);
});

test.each(['yesterday', '2026-02-31', '08:30', '2026-11-21T25:00', '2026-11-21T08:30[Europe/Tallinn]', ''])(
  '"%s" is refused, with what would be right (audit 32)',
  (written) => {
    expect(() => instant(written, '--since', tallinn)).toThrow(/--since must be a day.*in the account's zone, Europe/);
  },
);
