import { describe, expect, test } from 'vitest';
import { isOpen, meet, nextClosing, nextOpening, type SendWindow } from '../../../../core/schedule/send-window.ts';

/** Through `nextSendTime` most of it is tested in send-time.test.ts: here is what no rule can ask for. */
const window: SendWindow = { name: 'w', from: 9 * 3_600, until: 20 * 3_600, days: undefined, zone: 'Europe/Tallinn' };
const noon = Date.parse('2026-11-21T10:00:00Z');

describe('a window', () => {
  test('it never opens on no day', () => {
    expect(nextOpening({ ...window, days: new Set() }, noon)).toBeUndefined();
  });

  test('it never closes without an hour, a day or a holiday to close at', () => {
    const always = { ...window, from: 0, until: 86_400 };
    expect([always, { ...window, until: window.from }].map((one) => nextClosing(one, noon))).toEqual([
      undefined,
      undefined,
    ]);
    const holidayOn = () => 'a holiday';
    expect(nextClosing({ ...always, holidayOn }, noon)).toBe(noon);
    expect(nextClosing({ ...always, days: new Set([6]) }, noon)).toBe(Date.parse('2026-11-21T22:00:00Z'));
    expect(nextClosing({ ...always, until: 86_399 }, noon)).toBe(Date.parse('2026-11-21T21:59:59Z'));
  });

  test.each(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'])('it opens on %s for that day alone', (name) => {
    const day = ['', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(name);
    const week = Array.from({ length: 7 }, (_, index) => noon + index * 86_400_000);
    const open = week.filter((at) => isOpen({ ...window, days: new Set([day]) }, at));
    expect(open.map((at) => new Date(at).toUTCString().slice(0, 3))).toStrictEqual([name]);
  });

  const night: SendWindow = { ...window, from: 22 * 3_600, until: 2 * 3_600 };
  const early: SendWindow = { ...window, from: 0, until: 3_600 };
  const rows: [name: string, one: SendWindow, other: SendWindow, expected: boolean][] = [
    ['meets itself', window, window, true],
    ['meets nothing that begins at its end', window, { ...window, from: 20 * 3_600, until: 21 * 3_600 }, false],
    ["of Sunday's night meets Monday", { ...night, days: new Set([7]) }, { ...early, days: new Set([1]) }, true],
    ["of Monday meets Sunday's night", { ...early, days: new Set([1]) }, { ...night, days: new Set([7]) }, true],
    ["of Sunday's night misses Tuesday", { ...night, days: new Set([7]) }, { ...early, days: new Set([2]) }, false],
    ['of another day is another', { ...window, days: new Set([3]) }, { ...window, days: new Set([4]) }, false],
  ];
  for (const [name, one, other, expected] of rows) test(`it ${name}`, () => expect(meet([one, other])).toBe(expected));
});
