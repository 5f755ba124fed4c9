import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shownContact } from '../../../../worker/dashboard/shown-contact.ts';

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
