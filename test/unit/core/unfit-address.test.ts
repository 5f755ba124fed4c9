import { expect, test } from 'vitest';
import { domainOf, isReservedAddress, isRoleAddress, isWithin } from '../../../core/unfit-address.ts';

test.each([
  ['ann@example.com', true],
  ['ann@mail.Example.ORG', true],
  ['ann@shop.test', true],
  ['ann@nowhere.invalid', true],
  ['ann@printer.local', true],
  ['ann@desk.internal.', true],
  ['ann@example.ee', false],
  ['ann@myexample.com', false],
  ['ann@test.com', false],
  ['ann@example.company', false],
  ['+3725550001', false],
])('isReservedAddress takes %s for one of a domain that nobody can have: %s', (address, expected) => {
  expect(isReservedAddress(address)).toBe(expected);
});

test.each([
  ['noreply@acme.com', true],
  ['No-Reply@acme.com', true],
  ['no_reply+tickets@acme.com', true],
  ['do-not-reply@acme.com', true],
  ['donotreply@acme.com', true],
  ['MAILER-DAEMON@mx.acme.com', true],
  ['postmaster@acme.com', true],
  ['bounce-2814@lists.acme.com', true],
  ['bounces+ann=b.ee@lists.acme.com', true],
  ['abuse@acme.com', true],
  ['info@acme.com', false],
  ['sales@acme.com', false],
  ['support@acme.com', false],
  ['noreplyson@acme.com', false],
  ['norman.reply@acme.com', false],
  ['ann@noreply.com', false],
  ['@acme.com', false],
])('isRoleAddress takes %s for a machine or nobody: %s', (address, expected) => {
  expect(isRoleAddress(address)).toBe(expected);
});

test('isWithin means a domain and those below it, and domainOf reads it in any spelling', () => {
  expect([isWithin('acme.com', 'acme.com'), isWithin('mail.acme.com', 'acme.com')]).toEqual([true, true]);
  expect([isWithin('notacme.com', 'acme.com'), isWithin('acme.com.ee', 'acme.com')]).toEqual([false, false]);
  expect([domainOf('Ann@ACME.com'), domainOf('a@b@c.ee'), domainOf('x@'), domainOf('x')]).toEqual([
    'acme.com',
    'c.ee',
    undefined,
    undefined,
  ]);
});
