import { expect, test } from 'vitest';
import { instant } from '../../../../worker/support/instant.ts';
import { inZone } from '../../../../worker/support/shown-time.ts';

const rows: [name: string, text: string, timeZone: string, expected: string][] = [
  ['in winter', '2026-11-21T09:30:00.123Z', 'Europe/Tallinn', '2026-11-21T11:30:00+02:00'],
  ['in summer', '2026-07-21T21:30:05.000Z', 'Europe/Tallinn', '2026-07-22T00:30:05+03:00'],
  ['behind UTC', '2026-11-21T02:00:00.000Z', 'America/St_Johns', '2026-11-20T22:30:00-03:30'],
  ['in UTC', '2026-11-21T00:00:00Z', 'UTC', '2026-11-21T00:00:00+00:00'],
  ['among other words', 'due (2026-11-21T09:30:00.000Z), then', 'Asia/Tokyo', 'due (2026-11-21T18:30:00+09:00), then'],
  ['nothing to do', 'on 2026-11-21 at 09:30', 'Asia/Tokyo', 'on 2026-11-21 at 09:30'],
];
test.each(rows)('%s: %s in %s', (_name, text, timeZone, expected) => {
  expect(inZone(text, timeZone)).toBe(expected);
});

test('what is shown is read again as the same instant', () => {
  for (const timeZone of ['Europe/Tallinn', 'America/St_Johns', 'UTC', 'Asia/Kathmandu']) {
    const at = '2026-10-25T00:30:00.000Z';
    const again = instant(inZone(at, timeZone), '--since', { timeZone: 'Asia/Tokyo', now: new Date() });
    expect(again.toISOString()).toBe(at);
  }
});
