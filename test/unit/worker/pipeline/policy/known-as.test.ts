import { expect, test } from 'vitest';
import { compileExpression } from '../../../../../core/mapping/expression-compile.ts';
import {
  customerAddresses,
  furtherAddresses,
  linksOf,
  vendorsPerson,
} from '../../../../../worker/pipeline/policy/known-as.ts';

const contact = { kind: 'email', value: 'erika@acme.ee' } as const;
const many = Array.from({ length: 12 }, (_, i) => `a${i}@acme.ee`);
const rule = (...sources: string[]) => ({ contact: sources.map(compileExpression) });

test.each<[what: string, candidates: unknown[], sources: string[], country: 'EE' | undefined, found: string[]]>([
  ['none beside the contact', [contact.value], ['email'], undefined, []],
  ['nor the contact in another spelling', [' ERIKA@acme.ee'], ['email'], undefined, []],
  [
    'another address, and a number',
    [contact.value, '+372 5551 2345', 'e@b.ee'],
    ['a', 'b', 'c'],
    undefined,
    ['+37255512345', 'e@b.ee'],
  ],
  ['those of a list', [['x', contact.value, 'e@b.ee']], ['emails'], undefined, ['e@b.ee']],
  ['a national number with a default country', ['5551 2345'], ['phone'], 'EE', ['+37255512345']],
  ['none without', ['5551 2345'], ['phone'], undefined, []],
  ['no address of the rule itself', ['shop@acme.ee'], ['"shop@acme.ee"'], undefined, []],
  ['eight at most', [many], ['emails'], undefined, many.slice(0, 8)],
])('further addresses of a person are %s', (_what, candidates, sources, country, found) => {
  expect(furtherAddresses(candidates, rule(...sources), contact, { defaultCountry: country })).toEqual(found);
});

test('every address of a customer stands where the paths lead, eight of each and eight of all', () => {
  const customerPaths = ['customer.email', 'customer.others', 'customer.nothing'].map(compileExpression);
  const of = (customer: object) => customerAddresses({ customer }, { customerPaths, defaultCountry: 'EE' });
  expect(of({ email: 'Erika@Acme.ee', others: ['5551 2345', '', 'case 7'] })).toEqual([
    ...['erika@acme.ee', '+37255512345', 'case 7'],
  ]);
  expect(of({})).toEqual([]);
  expect(of({ email: 'x@acme.ee', others: many })).toEqual(['x@acme.ee', ...many.slice(0, 7)]);
  expect(of({ email: many[11], others: many })).toEqual([many[11], ...many.slice(0, 7)]);
});

test('a person is known by the digests of their addresses, and by the vendor’s id in every source of an account', () => {
  const contacts = { addressOf: (key: string) => `digest of ${key}` };
  const links = (journey: object, more: object = {}) => linksOf(journey, { storedAs: 'desk', contacts, ...more });
  expect([links({}), links({ alsoKnownAs: ['d1'] })]).toEqual([[], ['d1']]);
  expect(links({ alsoKnownAs: ['d1'], personId: '7' })).toEqual(['d1', 'digest of person of source desk: 7']);
  expect(links({ personId: '7' }, { account: 'toy acme' })).toEqual(['digest of person of toy acme: 7']);
  expect(vendorsPerson({ storedAs: 'shop' }, '7')).toBe('person of source shop: 7');
});
