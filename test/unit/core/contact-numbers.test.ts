import fc from 'fast-check';
import type { CountryCode } from 'libphonenumber-js/max';
import { expect, test } from 'vitest';
import { contactFor } from '../../../core/contact.ts';
import { internationalPhone } from '../../../core/phone-numbers.ts';

/* Numbers as people type them: facts of libphonenumber-js 1.13.16, as measured. Test numbers belong to nobody. */

type Outcome = string | 'landline' | 'other' | 'invalid' | 'no country';
const rows: [what: string, typed: string, country: CountryCode | undefined, sms: Outcome][] = [
  ['a national number of the country it stands in', '0171 3920012', 'DE', '+491713920012'],
  ['one without country', '0171 3920012', undefined, 'no country'],
  ['00 for +, from anywhere', '0049 171 3920012', 'FR', '+491713920012'],
  ['00 for +, without country', '00491713920012', undefined, '+491713920012'],
  ['011 for + in North America', '011491713920012', 'US', '+491713920012'],
  ['the trunk zero in brackets', '+49 (0)171 3920012', 'DE', '+491713920012'],
  ['the trunk zero after the calling code', '+49 0171 3920012', 'DE', '+491713920012'],
  ['the calling code without its plus', '491713920012', 'DE', '+491713920012'],
  ['the same with blanks', '49 171 392 00 12', 'DE', '+491713920012'],
  ['the same with a slash', '49171/3920012', 'DE', '+491713920012'],
  ["another country's calling code without its plus", '37255512345', 'DE', '+37255512345'],
  ['the calling code without its plus and without country', '491713920012', undefined, 'no country'],
  ['a number in a country where mobiles look like landlines', '(212) 555-0123', 'US', '+12125550123'],
  ["a mobile that would be another country's with a plus", '96077 71234', 'IN', '+919607771234'],
  ["a number like one of a mobile that would be another country's too", '659 234 5678', 'US', '+16592345678'],
  ['a landline', '(040) 66969 123', 'DE', 'landline'],
  ['a landline as long as one with a calling code', '91 234 56 78', 'ES', 'landline'],
  ["another's landline, which has no plus either", '4940669691', 'DE', 'landline'],
  ['a toll-free number', '0800 1234567', 'DE', 'other'],
  ['a number of a country within another code', '+44 7781 123456', 'GB', '+447781123456'],
  ['a drama number, which no plan has', '07700 900123', 'GB', 'invalid'],
  ['words around it', 'Tel. 0171 3920012', 'DE', 'invalid'],
  ['a link', 'tel:+491713920012', 'DE', 'invalid'],
  ['two numbers', '0171 3920012 / 040 66969123', 'DE', 'invalid'],
  ['an extension', '+49 171 3920012 ext. 5', 'DE', 'other'],
  ['no number', 'n/a', 'DE', 'invalid'],
  ['too few digits', '12345', 'DE', 'invalid'],
];

const said: readonly [RegExp, Outcome][] = [
  [/landline/, 'landline'],
  [/not a mobile|an extension/, 'other'],
  [/without country code/, 'no country'],
  [/not a valid/, 'invalid'],
];

test.each(rows)('it reads %s', (_what, typed, defaultCountry, expected) => {
  const choice = contactFor([typed], 'sms', { defaultCountry });
  const why = choice.ok ? '' : (choice.rejected[0]?.why ?? '');
  expect(choice.ok ? choice.contact.value : said.find(([words]) => words.test(why))?.[1]).toBe(expected);
});

test('it shows a form’s number in international form where it can be understood, else as it is', () => {
  const shown = (text: string, country?: string) => internationalPhone(text, country);
  expect(shown(' 0171 3920012 ', 'DE')).toBe('+491713920012');
  expect(shown('(040) 66969 123', 'DE')).toBe('+494066969123');
  expect(shown('491713920012', 'DE')).toBe('+491713920012');
  expect(shown('0171 3920012 ext. 5', 'DE')).toBe('0171 3920012 ext. 5');
  // Codes that are none, as shops write them.
  for (const country of [undefined, '', 'de', 'UK', 'ZZ']) {
    for (const text of ['0171 3920012', '491713920012']) expect(shown(text, country)).toBe(text);
  }
  expect(shown(' ask my wife ', 'DE')).toBe('ask my wife');
});

test('it never makes another number of one that is already international', () => {
  const country = fc.constantFrom('DE', 'US', 'EE', 'GB', 'BR', undefined);
  fc.assert(
    fc.property(fc.stringMatching(/^\+[1-9][0-9]{6,14}$/), country, (text, one) => {
      const first = internationalPhone(text, one);
      expect(internationalPhone(first, undefined)).toBe(first);
    }),
  );
});
