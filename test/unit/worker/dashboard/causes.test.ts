import { expect, test } from 'vitest';
import { causeOf } from '../../../../worker/dashboard/last-work.ts';

test.each([
  ['since 2026-05-04T08:00:00.000Z: no answer', 'since 2026-06-01T00:00:00Z: no answer'],
  ['ticket 41960 is closed for good', 'ticket 7 is closed for good'],
  ['the field cf-881a is gone', 'the field cf-7b2 is gone'],
])('"%s" and "%s" are of one cause', (one, other) => {
  expect(causeOf(one)).toBe(causeOf(other));
});

test('reasons of other words are of another cause', () => {
  expect(causeOf('the key may not write tickets')).not.toBe(causeOf('the key may not write orders'));
});
