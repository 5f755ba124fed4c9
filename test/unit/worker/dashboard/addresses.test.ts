import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localAddress } from '../../../../worker/dashboard/addresses.ts';

test.each([
  ['/journeys?state=failed', '/journeys?state=failed'],
  ['/', '/'],
  ['', '/'],
  ['//evil.example/x', '/'],
  ['/\\evil.example', '/'],
  ['/.//evil.example', '/evil.example'],
  ['https://evil.example/', '/'],
  ['javascript:alert(1)', '/'],
])('after a login for %s the browser goes to %s', (to, expected) => {
  expect(localAddress(to)).toBe(expected);
});

test('whatever is asked for, a login leads to this page', () => {
  const part = fc.constantFrom('/', '\\', '.', 'http:', 'evil.example', '@', '?', '#', '\t', '%2f', ':');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part).map((parts) => parts.join('')),
      ),
      (to) => {
        expect(new URL(localAddress(to), 'https://page.example').origin).toBe('https://page.example');
      },
    ),
  );
});
