import { expect, test } from 'vitest';
import type { Contact } from '../../../../core/contact.ts';
import {
  type ContactReading,
  contactsNamed,
  knownAtService,
  peopleNamed,
} from '../../../../worker/support/named-contacts.ts';
import { neverAsked } from '../../../support/core/feedback/samples.ts';

const inEstonia = { defaultCountry: 'EE' } as const;
const short = ({ kind, value }: Contact) => `${kind} ${value}`;

const readings: [text: string, reading: ContactReading, expected: string[]][] = [
  ['a@example.com', {}, ['email a@example.com']],
  ['desk-7', inEstonia, ['identifier desk-7']],
  ['55512345', {}, ['identifier 55512345']],
  [
    '55512345',
    inEstonia,
    ['phone +37255512345', 'identifier 55512345', 'identifier 5551 2345', 'identifier 5551-2345'],
  ],
  ['55512345', { ...inEstonia, as: 'identifier' }, ['identifier 55512345']],
  ['+372 5551 2345', { as: 'identifier' }, ['identifier +372 5551 2345']],
  ['5551 2345', { ...inEstonia, as: 'phone' }, ['phone +37255512345']],
  ['00372 5551 2345', { as: 'phone' }, ['phone +37255512345']],
  ['a@example.com', { as: 'identifier' }, ['identifier a@example.com']],
  ['a@example.com', { as: 'email' }, ['email a@example.com']],
];
test.each(readings)('%s, read with %o, may name', (text, reading, expected) => {
  expect(contactsNamed(text, reading).map(short)).toEqual(expected);
});

test('what is stored here is looked for once for all spellings of a contact', () => {
  expect(peopleNamed('+372 5551 2345', {}).map(short)).toEqual([
    'phone +37255512345',
    'identifier 5551 2345',
    'identifier 5551-2345',
  ]);
  expect(peopleNamed('55512345', inEstonia).map(short)).toContain('identifier 55512345');
});

const refused: [text: string, as: Contact['kind'], says: RegExp][] = [
  ['desk-7', 'phone', /--as phone: the contact is no phone number; write it with \+ or 00/],
  ['55512345', 'phone', /set defaultCountry/],
  ['+37255512345', 'email', /--as email: the contact is no e-mail address/],
  ['..', 'identifier', /unusable/],
  [' ', 'email', /unusable/],
];
test.each(refused)('%j is refused as %s', (text, as, says) => {
  expect(() => contactsNamed(text, { as })).toThrow(says);
});

test('a contact is found at the service in each reading, and shown once whatever its spellings', async () => {
  const stored = new Map([
    ['+37255512345', '+37255512345'],
    ['5551 2345', '+37255512345'],
    ['55512345', '55512345'],
  ]);
  const contact = async ({ value }: Contact) => {
    const known = stored.get(value);
    return known === undefined ? undefined : { ...neverAsked, contact: known };
  };
  const found = await knownAtService('55512345', inEstonia, { contact });
  expect(found.map(({ contact, record }) => [short(contact), record.contact])).toEqual([
    ['phone +37255512345', '+37255512345'],
    ['identifier 55512345', '55512345'],
  ]);
  expect(await knownAtService('desk-7', inEstonia, { contact })).toEqual([]);
});
