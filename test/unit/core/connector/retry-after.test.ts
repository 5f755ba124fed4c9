import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../../core/connector/retry-after.ts';

const now = new Date('2026-03-02T10:00:00Z');
const aDay = 86_400_000;

test.each([
  [null, undefined],
  [undefined, undefined],
  ['', undefined],
  ['0', 0],
  ['1.5', 1500],
  ['1.25', 1250],
  ['0.0001', 1],
  [' 7 ', 7000],
  ['2026', 2_026_000],
  ['86400', aDay],
  ['-1', undefined],
  ['1e9', undefined],
  ['1.', undefined],
  ['7 s', undefined],
  ['s 7', undefined],
  // Longer than anybody means.
  ['86401', aDay],
  ['999999999', aDay],
  ['99999999999999999999', aDay],
  ['Wed, 04 Mar 2026 10:00:00 GMT', aDay],
  ['Mon, 02 Mar 2026 10:00:01 GMT', 1000],
  ['Tue, 03 Mar 2026 10:00:00 GMT', aDay],
  ['Wed, 25 Feb 2026 10:00:00 GMT', 0],
  ['Thu, 26 Feb 2026 10:00:00 GMT', 0],
  ['Fri, 27 Feb 2026 10:00:00 GMT', 0],
  ['Sat, 28 Feb 2026 10:00:00 GMT', 0],
  ['Sun, 01 Mar 2026 10:00:00 GMT', 0],
  ['Monday, 02-Mar-26 10:00:02 GMT', 2000],
  ['Mon, nonsense', undefined],
  ['02 Mar 2026 10:00:01 GMT', undefined],
  ['on Mon, 02 Mar 2026 10:00:01 GMT', undefined],
  ['2026-03-02T10:00:01Z', undefined],
])('Retry-After %j is a wait of %j ms', (header, expected) =>
  expect(retryAfterMs({ get: () => header ?? null }, now)).toBe(expected),
);
