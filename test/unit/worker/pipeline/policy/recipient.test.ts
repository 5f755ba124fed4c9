import { expect, test } from 'vitest';
import type { Contact } from '../../../../../core/contact.ts';
import { recipientOf, testMark, testProblems } from '../../../../../worker/pipeline/policy/recipient.ts';
import { campaignWith } from '../../../../support/worker/pipeline/policy.ts';

const me = { email: 'me@acme.ee', phone: '+37255500001', identifier: 'me-1' };
const customer = (kind: Contact['kind']): Contact => ({ kind, value: 'customer' });
const to = (kind: Contact['kind'], type: 'sms' | 'email' | 'mixed' | 'external' | 'widget', test?: object) =>
  recipientOf(customer(kind), { name: 'all', campaign: 12, test }, type);

test('outside of test mode the customer gets the request', () => {
  expect(to('phone', 'mixed')).toEqual({ contact: customer('phone'), isTest: false });
});

test.each([
  ['phone', 'sms', me, 'phone', me.phone],
  ['email', 'email', me, 'email', me.email],
  ['email', 'mixed', me, 'email', me.email],
  ['phone', 'mixed', me, 'phone', me.phone],
  ['phone', 'mixed', { email: me.email }, 'email', me.email],
  ['identifier', 'external', me, 'identifier', 'me-1'],
  ['identifier', 'external', { email: me.email, phone: me.phone }, 'identifier', me.email],
  ['email', 'widget', me, 'identifier', 'me-1'],
] as const)(
  'in test mode, for a customer by %s of a campaign of type %s, %j is asked by %s',
  (kind, type, test, as, value) => {
    expect(to(kind, type, test)).toEqual({ contact: { kind: as, value }, isTest: true });
  },
);

test.each([
  ['sms', { email: me.email }, 'phone'],
  ['email', { phone: me.phone }, 'email'],
  ['mixed', { identifier: 'me-1' }, 'email or phone'],
  ['external', {}, 'identifier'],
  ['widget', {}, 'identifier'],
] as const)('a campaign of type %s has nobody to ask in %j: a person adds the %s', (type, test, kind) => {
  const says = `test mode holds, and the test contact has no ${kind}, which a campaign of type ${type} needs`;
  expect(() => to('email', type, test)).toThrow(`rule "all": ${says}`);
  expect(() => to('email', type, test)).toThrow(
    expect.objectContaining({ advice: { kind: 'config', only: 'rule "all" in campaign 12' } }),
  );
  expect(testProblems({ test }, campaignWith({ type }))).toEqual([says]);
});

const field = (name: string, field_type: string) => ({ name, field_type, required: false, choices: [] });
const marked = campaignWith({
  custom_fields: [field('Test', 'Text'), field('Trial', 'Yes/No'), field('Age', 'Integer')],
});

test.each([
  [{}, { Test: 'TEST' }, []],
  [{ field: 'Trial' }, { Trial: true }, []],
  [{ field: 'Age' }, {}, ['the campaign has no custom field "Age" of type Text or Yes/No (test.field)']],
  [{ field: 'None' }, {}, ['the campaign has no custom field "None" of type Text or Yes/No (test.field)']],
])('a test by %j is marked as %j', (more, mark, problems) => {
  expect(testMark({ ...me, ...more }, marked)).toEqual(mark);
  expect(testProblems({ test: { ...me, ...more } }, marked)).toEqual(problems);
});

test('a campaign without a field for it goes unmarked, and outside of test mode nothing is a problem', () => {
  expect([testMark(me, campaignWith()), testProblems({ test: me }, campaignWith())]).toEqual([{}, []]);
  expect(testProblems({ test: undefined }, campaignWith({ type: 'sms' }))).toEqual([]);
});
