import { expect, test } from 'vitest';
import { isoTimes } from '../../../../core/feedback/iso-times.ts';

test('instants are shown as toISOString does, in any order', () => {
  const shown = isoTimes();
  const day = Date.parse('2026-03-29T00:00:00Z');
  const years = [0, -1, -62_198_755_200_000, 8.64e15, -8.64e15, Date.parse('9999-12-31T23:59:59.999Z') + 1];
  const ofDays = [-86_400_000, -1, 0, 1, 999, 1_000, 59_999, 3_599_999, 3_600_000, 86_399_999, 86_400_000];
  // Steps that meet every digit of a time.
  const steps = Array.from({ length: 2_000 }, (_, n) => n * 7_654_321);
  for (const ms of [...years, ...ofDays.map((of) => day + of), ...steps.map((of) => day + of), ...years]) {
    expect(shown(new Date(ms))).toBe(new Date(ms).toISOString());
  }
});

test('what is no instant is none', () => {
  expect(() => isoTimes()(new Date(Number.NaN))).toThrow(RangeError);
});
