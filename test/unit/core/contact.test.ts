import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { CampaignType, Contact } from '../../../core/contact.ts';
import {
  contactFor,
  contactForms,
  contactKey,
  contactPath,
  mostCandidates,
  normaliseContact,
  parseContact,
} from '../../../core/contact.ts';
import { isBlank, withoutUnseen } from '../../../core/visible-text.ts';

const phone = (value: string): Contact => ({ kind: 'phone', value });
const email = (value: string): Contact => ({ kind: 'email', value });
const identifier = (value: string): Contact => ({ kind: 'identifier', value });

describe('parseContact', () => {
  const rows: [text: string, country: 'EE' | undefined, expected: Contact][] = [
    ['+372 5551 2345', undefined, phone('+37255512345')],
    ['00372 5551 2345', undefined, phone('+37255512345')],
    ['00 372 5551-2345', undefined, phone('+37255512345')],
    ['+44 (0)7911 123456', undefined, phone('+447911123456')],
    ['  +12025550123 ', undefined, phone('+12025550123')],
    ['5551 2345', 'EE', phone('+37255512345')],
    ['00372 5551 2345', 'EE', phone('+37255512345')],
    ['5551 2345', undefined, identifier('5551 2345')],
    ['+1234', undefined, identifier('+1234')],
    ['ORD-5551234', 'EE', identifier('ORD-5551234')],
    [' Mari.Maasikas@Example.com ', undefined, email('Mari.Maasikas@Example.com')],
    ['mari@', undefined, identifier('mari@')],
    ['C/77 ü', undefined, identifier('C/77 ü')],
    ['call +37255512345', undefined, identifier('call +37255512345')],
  ];
  test.each(rows)('it reads %j (%s) as %j', (text, defaultCountry, expected) => {
    expect(parseContact(text, { defaultCountry })).toEqual(expected);
  });

  test.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['.', 'a contact that no address can name'],
    ['..', 'a contact that no address can name'],
    [' .. ', 'a contact that no address can name'],
    ['a\ud800', 'not valid Unicode text'],
  ])('it refuses %j: %s', (text, flaw) => {
    const error = expect.objectContaining({
      message: `The contact is unusable (${flaw}): give a phone number, an e-mail address or an identifier.`,
      advice: { kind: 'permanent' },
      outcome: 'never-sent',
    });
    expect(() => parseContact(text)).toThrow(error);
    expect(() => contactPath(identifier(text))).toThrow(error);
  });
});

describe('contactKey', () => {
  const same: [Contact, Contact][] = [
    [phone('+37255512345'), phone('00372 5551 2345')],
    [email('Mari@Example.com'), email(' mari@example.COM')],
    [email('mari@exämple.ee'), email('mari@xn--exmple-cua.ee')],
    [identifier('c-77'), identifier('C-77')],
    // The service compares a contact with every request's phone, email and identifier.
    [email('a@b.example'), identifier('A@b.example')],
    [identifier('+372 612 3456'), phone('+3726123456')],
    [identifier('00372 612-3456'), phone('+3726123456')],
    [identifier('0037255512345'), identifier('+37255512345')],
    [identifier('+999 1234 5678'), phone('0099912345678')],
  ];
  test.each(same)('it is the same for %j and %j (audit 1)', (a, b) => expect(contactKey(a)).toBe(contactKey(b)));

  test.each<[Contact, Contact]>([
    [phone('+37255512345'), phone('+37255512346')],
    [identifier('007'), identifier('7')],
    [identifier('Maße'), identifier('MASSE')],
    [identifier('0012345'), identifier('+12345')],
    [phone('+3726123456'), identifier('+372 612 3456 ext. 7')],
  ])('it differs for %j and %j', (a, b) => expect(contactKey(a)).not.toBe(contactKey(b)));

  test('it never throws, and a normalised contact keeps it', () => {
    const kinds = fc.constantFrom('phone', 'email', 'identifier' as const);
    const anything = fc.record({ kind: kinds, value: fc.string({ unit: 'binary' }) });
    fc.assert(
      fc.property(anything, (contact) => {
        const key = contactKey(contact);
        const seen = withoutUnseen(contact.value);
        if (!isBlank(seen) && !/^\.{1,2}$/.test(seen) && contact.value.isWellFormed()) {
          const once = normaliseContact(contact);
          expect(contactKey(once)).toBe(key);
          expect(normaliseContact(once)).toEqual(once);
        }
      }),
    );
  });
});

describe('contactForms', () => {
  const rows: [written: string, country: 'EE' | undefined, forms: string[]][] = [
    ['+372 5551 2345', undefined, ['+37255512345', '+372 5551 2345', '5551 2345', '5551-2345']],
    ['5551 2345', 'EE', ['+37255512345', '5551 2345', '5551-2345', '55512345']],
    [
      '00372-612 3456',
      undefined,
      ['+3726123456', '00372-612 3456', '003726123456', '+372 612 3456', '612 3456', '612-3456'],
    ],
    ['+999 1234 5678', undefined, ['+99912345678', '+999 1234 5678', '0099912345678']],
    ['Ann@Example.com', undefined, ['Ann@Example.com']],
    [' ann@example.com ', undefined, ['ann@example.com']],
    ['mari@exämple.ee', undefined, ['mari@exämple.ee', 'mari@xn--exmple-cua.ee']],
    ['mari@xn--exmple-cua.ee', undefined, ['mari@xn--exmple-cua.ee', 'mari@exämple.ee']],
    ['+37255512345', 'EE', ['+37255512345', '5551 2345', '5551-2345', '55512345']],
    ['+4915112345678', 'EE', ['+4915112345678', '01511 2345678', '01511-2345678']],
    ['C/77', undefined, ['C/77']],
    ['+372 612 3456 ext. 7', undefined, ['+372 612 3456 ext. 7']],
    ['..', undefined, []],
    ['a\ud800', undefined, []],
  ];
  test.each(rows)('it finds for %j (%s) all that the service may know it by (audit 1)', (written, country, forms) => {
    expect(contactForms(written, { defaultCountry: country }).map(({ value }) => value)).toEqual(forms);
  });
});

test.each<[Contact, Contact]>([
  [phone('00372 5551 2345'), phone('+37255512345')],
  [phone(' 5551 2345 '), phone('5551 2345')],
  [phone('+372\u200b5551 2345'), phone('+37255512345')],
  [email(' mari@example.com\u200b'), email('mari@example.com')],
  [email('00372 5551 2345'), email('00372 5551 2345')],
  [identifier(' 00372 5551 2345 '), identifier('00372 5551 2345')],
  [identifier('c\u200b7'), identifier('c\u200b7')],
])('of %j the service knows %j', (given, known) => expect(normaliseContact(given)).toEqual(known));

test('a form of a contact that is not its usual one is an identifier', () => {
  expect(contactForms('mari@exämple.ee')).toEqual([email('mari@exämple.ee'), identifier('mari@xn--exmple-cua.ee')]);
});

test('contactPath is one segment that reads back as the contact, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (value) => {
      fc.pre(!isBlank(value) && !/^\.{1,2}$/.test(value.trim()));
      const url = new URL(`https://h.example/api/contacts/${contactPath(identifier(value))}`);
      const segments = url.pathname.split('/');
      expect(segments).toHaveLength(4);
      expect(decodeURIComponent(segments[3] ?? '')).toBe(value.trim());
      expect(url.search + url.hash).toBe('');
    }),
  );
});

describe('contactFor', () => {
  const mobile = '+372 5551 2345';
  const landline = '+372 600 1234';
  const dialled = phone('+37255512345');
  const aLandline = ['a landline number'];
  const neither = 'neither an e-mail address nor a phone number';
  const noCountry = ['a phone number without country code (write it with + or 00, or set a default country)'];
  const rows: [name: string, type: CampaignType, candidates: unknown[], contact: Contact | undefined, why: string[]][] =
    [
      ['takes the first mobile for sms', 'sms', [mobile, '+37255512346'], dialled, []],
      ['passes over what is not there', 'sms', [undefined, null, '', '  ', mobile], dialled, Array(4).fill('empty')],
      ['passes over a landline', 'sms', [landline, mobile], dialled, aLandline],
      ['passes over a premium number', 'sms', ['+44 909 8790000'], undefined, ['not a mobile number']],
      ['takes a number that may be a mobile', 'sms', ['+12025550123'], phone('+12025550123'), []],
      ['needs a country', 'sms', ['5551 2345'], undefined, noCountry],
      ['needs a country for a number with 00 inside', 'sms', ['55 00 12 34'], undefined, noCountry],
      [
        'knows no such number',
        'sms',
        ['+1234', '00 372 12', 'tel 5551 2345', '5551 2345 at home'],
        undefined,
        Array(4).fill('not a valid phone number'),
      ],
      ['does not send SMS to an address', 'sms', ['a@b.example'], undefined, ['not a phone number']],
      ['does not send mail to a number', 'email', [mobile], undefined, ['not an e-mail address']],
      ['takes an address for email', 'email', [mobile, 'a@b.example'], email('a@b.example'), ['not an e-mail address']],
      ['takes a number for mixed', 'mixed', [landline, mobile, 'a@b.example'], dialled, aLandline],
      ['takes an address for mixed', 'mixed', [landline, 'a@b.example', mobile], email('a@b.example'), aLandline],
      ['knows neither in a text', 'mixed', ['n/a', '+1234'], undefined, [neither, 'not a valid phone number']],
      ['takes an identifier for external', 'external', ['C-77'], identifier('C-77'), []],
      ['takes a number as the identifier for external', 'external', [mobile], identifier('+37255512345'), []],
      [
        'takes a landline as the identifier for external, as a look-up names it (audit 1)',
        'external',
        ['00372 612 3456'],
        identifier('+3726123456'),
        [],
      ],
      ['leaves digits without a country as they are', 'external', ['612 3456'], identifier('612 3456'), []],
      ['takes an address as the identifier for widget', 'widget', ['a@b.example'], identifier('a@b.example'), []],
      ['takes a whole number as an identifier', 'widget', [77], identifier('77'), []],
      ['refuses what no address can name', 'external', ['..'], undefined, ['a contact that no address can name']],
      ['refuses no text', 'external', [{}, true, 1.5], undefined, Array(3).fill('neither text nor a whole number')],
      ['looks into lists', 'sms', [[landline, mobile]], dialled, aLandline],
      ['finds an empty list empty of contacts', 'sms', [[]], undefined, ['neither text nor a whole number']],
      ['finds nothing in nothing', 'mixed', [], undefined, []],
    ];
  test.each(rows)('it %s', (_name, type, candidates, contact, why) => {
    const choice = contactFor(candidates, type);
    expect(choice.ok ? choice.contact : undefined).toEqual(contact);
    expect(choice.rejected.map((one) => one.why)).toEqual(why);
    if (why.length === 4) expect(choice.rejected.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  });

  test('it reads a national number with a default country', () => {
    expect(contactFor(['5551 2345'], 'sms', { defaultCountry: 'EE' })).toEqual({
      ok: true,
      contact: phone('+37255512345'),
      index: 0,
      rejected: [],
    });
  });

  test('it asks for no country where there is a default one', () => {
    expect(contactFor(['12'], 'sms', { defaultCountry: 'EE' }).rejected).toEqual([
      { index: 0, why: 'not a valid phone number' },
    ]);
  });

  test('it says that nobody was found', () => {
    expect(contactFor([['x'], 'y'], 'email')).toEqual({
      ok: false,
      rejected: [
        { index: 0, why: 'not an e-mail address' },
        { index: 1, why: 'not an e-mail address' },
      ],
    });
  });

  test('it never repeats a value in a reason', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z0-9+@]{6,12}$/), (value) => {
        const { rejected } = contactFor([value], 'sms');
        for (const { why } of rejected) expect(why).not.toContain(value);
      }),
    );
  });
});

const unseen = '\u200b\u2060\ufeff\u00ad';

test('of a list of any length only so many are read, and the trace says so once (audit loop)', () => {
  const list = Array.from({ length: 10_000 }, (_, i) => `nobody ${i}`);
  const { rejected } = contactFor([list, 'hanna@example.com'], 'sms');
  expect(rejected.filter(({ index }) => index === 0)).toHaveLength(mostCandidates + 1);
  expect(rejected).toContainEqual({ index: 0, why: '10000 entries, of which 50 are looked at' });
  expect(contactFor([list, 'hanna@example.com'], 'email').ok).toBe(true);
});

describe('a heap of marks on one letter', () => {
  const heap = `a@${'\u0301\u0323'.repeat(200_000)}`;
  afterEach(() => vi.restoreAllMocks());

  test('is put in no order, which takes time that grows with the square of their number (audit loop)', () => {
    const normalize = vi.spyOn(String.prototype, 'normalize');
    contactKey({ kind: 'identifier', value: heap });
    contactForms(heap, { defaultCountry: 'EE' });
    contactFor([heap], 'external', {});
    expect(normalize.mock.contexts.filter((text) => String(text).length > 1_000)).toEqual([]);
  });

  test('is beyond what any language has: letters with their marks are still one contact, however they are typed', () => {
    const [typed, composed] = ['jose\u0301@example.com', 'jos\u00e9@example.com'];
    expect(contactKey({ kind: 'email', value: typed })).toBe(contactKey({ kind: 'email', value: composed }));
  });
});

describe('what nobody sees', () => {
  test.each(['sms', 'email', 'mixed', 'widget', 'external'] as const)(
    'zero-width text is empty in one of type %s',
    (type) => {
      expect(contactFor([unseen, ` \u200e${unseen}\n`], type)).toEqual({
        ok: false,
        rejected: [
          { index: 0, why: 'empty' },
          { index: 1, why: 'empty' },
        ],
      });
    },
  );

  test('zero-width text names no contact (audit 34)', () => {
    expect(() => parseContact(unseen)).toThrow(/The contact is unusable \(empty\)/);
    expect(() => normaliseContact(identifier(unseen))).toThrow(/\(empty\)/);
  });

  test('what copying brought along unseen does not spoil a number or an address (audit 34)', () => {
    expect(parseContact('\u202a+372 5551 2345\u202c')).toEqual(phone('+37255512345'));
    expect(contactFor(['\u2066mari@\u200bexample.com\u2069'], 'email')).toMatchObject({
      contact: email('mari@example.com'),
    });
    expect(contactKey(email('mari@example.com\u200b'))).toBe(contactKey(email('mari@example.com')));
  });

  test('makes no difference to a key, whatever plain text it was put into', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (value) => {
        expect(contactKey(identifier(`${value}\u200b`))).toBe(contactKey(identifier(value)));
      }),
    );
  });
});

describe('an internationalised address', () => {
  test.each([
    'jürgen@exämple.ee',
    'ju\u0308rgen@example.ee',
    'mari@exämple.ee',
    'mari@xn--exmple-cua.ee',
    'mari@пример.рф',
    'mari@xn--e1afmkfd.xn--p1ai',
    '用户@例子.广告',
    'первый.последний+метка@пример.рф',
  ])('%s is usable, as written (audit 34)', (address) => {
    expect(parseContact(address)).toEqual(email(address));
    for (const type of ['email', 'mixed'] as const)
      expect(contactFor([address], type)).toMatchObject({ ok: true, contact: email(address) });
    expect(contactPath(email(address))).toBe(encodeURIComponent(address));
  });

  test.each([
    'jürgen@',
    'jürgen@exämple',
    '@exämple.ee',
    'jür gen@exämple.ee',
    'jür..gen@exämple.ee',
    'jürgen@-exämple-.ee',
    'jürgen@exäm/ple.ee',
    'jürgen@exämple.ee, mari@example.ee',
    `${'ü'.repeat(130)}@example.ee`,
  ])('%s is none (audit 34)', (address) => {
    expect(contactFor([address], 'email')).toMatchObject({ ok: false, rejected: [{ why: 'not an e-mail address' }] });
  });
});
