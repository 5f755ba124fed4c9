import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shownContact, shownRecord } from '../../../../worker/dashboard/shown-answer.ts';

describe('an address that is masked', () => {
  test.each([
    ['email', 'kati.maasikas@example.com', 'k•••@e•••'],
    ['email', 'no address', 'n•••'],
    ['phone', '+37255500001', '+372••••01'],
    ['identifier', 'customer-17', 'c•••'],
    ['identifier', '😀 smiles', '😀•••'],
    ['identifier', '', '•••'],
  ] as const)('of kind %s: %s is shown as %s', (kind, value, shown) => {
    expect(shownContact({ kind, value }, false)).toBe(shown);
    expect(shownContact({ kind, value }, true)).toBe(value);
  });

  test('never holds two letters of a mailbox together', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (value) => {
        const [mailbox = ''] = value.split('@');
        fc.pre(mailbox.length > 1);
        expect(shownContact({ kind: 'email', value }, false)).not.toContain(mailbox.slice(0, 2));
      }),
    );
  });
});

test.each([
  ['41960', '41960', false, '41960'],
  ['ann@example.com', 'r-digest', false, undefined],
  ['ann@example.com', 'r-digest', true, 'ann@example.com'],
  [undefined, 'r-digest', true, undefined],
])('a record that its vendor calls %s, closeloop %s, is shown (in full: %s) as %s', (name, own, isInFull, shown) => {
  expect(shownRecord(name, own, isInFull)).toBe(shown);
});
