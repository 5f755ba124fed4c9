import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contactsInText, withoutContacts } from '../../../core/contacts-in-text.ts';

describe('contacts in a text', () => {
  const rows: [text: string, country: 'EE' | undefined, keys: string[]][] = [
    ['Erika@Example.com', undefined, ['erika@example.com']],
    [' +372 5551 2345 ', undefined, ['+37255512345']],
    ['Erika <erika@example.com>, her own', undefined, ['erika@example.com']],
    ["write to o'brien@example.com.", undefined, ["o'brien@example.com"]],
    ["it is 'erika@example.com'!", undefined, ['erika@example.com']],
    ['https://a.example/?to=erika@example.com&n=1', undefined, ['erika@example.com']],
    ['mailto:erika@münchen.de', undefined, ['erika@xn--mnchen-3ya.de']],
    ['call 00372 5551-2345, or (+372) 612', undefined, ['+37255512345']],
    ['call 612 3456 today', 'EE', ['+3726123456', '612 3456']],
    ['order 41960 for a@b', undefined, []],
    ['nobody', undefined, []],
  ];
  test.each(rows)('of %j (%s) it finds %j (audit trace)', (text, defaultCountry, keys) => {
    const found = [...contactsInText(text, { defaultCountry })];
    expect(found).toEqual(expect.arrayContaining(keys));
    if (keys.length === 0) expect(found.filter((key) => /^\S+@\S+\.\w+$|^\+/.test(key))).toEqual([]);
  });

  const exact: [text: string, keys: string[]][] = [
    [' +372 5551 2345 ', ['+37255512345']],
    ['+372 555 123 45', ['+37255512345']],
    ['Erika \ud800 <erika@example.com>', ['erika@example.com']],
    ['order 41960', ['order 41960']],
    ['room 12', []],
  ];
  test.each(exact)('in %j it finds %j and nothing else', (text, keys) => {
    expect([...contactsInText(text, {})]).toEqual(keys);
  });

  const erika = ['erika@example.com', '+37255512345', '+3726123456'];
  const texts: [text: string, left: string | undefined][] = [
    ['Erika <erika@example.com>, her own', 'Erika <***>, her own'],
    ['erika@example.com wrote to b@example.com', '*** wrote to b@example.com'],
    ['from erika@example.com', 'from ***'],
    ['call +372 5551 2345 or mail Erika@example.com.', 'call *** or mail ***.'],
    ["it is 'erika@example.com'!", "it is '***'!"],
    ['https://a.example/?to=erika@example.com&n=1', 'https://a.example/?to=***&n=1'],
    ['call 612 3456 today', 'call *** today'],
    ['b@example.com, order 41960', 'b@example.com, order 41960'],
    ['erika@example.com', undefined],
    [' +372 5551 2345 ', undefined],
  ];
  test.each(texts)('of %j it leaves %j', (text, left) => {
    expect(withoutContacts(text, (key) => erika.includes(key), { defaultCountry: 'EE' })).toBe(left);
  });

  test('a text with more contacts than are parsed goes whole, one with as many is searched', () => {
    const isForgotten = (key: string) => key === 'c0@example.com';
    // The text itself is the first that may be a contact.
    const most = Array.from({ length: 999 }, (_, i) => `c${i}@example.com`);
    expect(withoutContacts(most.join(' '), isForgotten, {})).toBe(`*** ${most.slice(1).join(' ')}`);
    expect(withoutContacts([...most, 'd@example.com'].join(' '), isForgotten, {})).toBeUndefined();
  });

  test('what is taken out is not found any more, and a text that names nobody stays as it is (audit trace)', () => {
    const words = [
      'erika@example.com',
      '+372 5551 2345',
      '612 3456',
      'order',
      "o'brien@x.example",
      '<',
      ',',
      ' ',
      ' / ',
      '1',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 8 }), (some) => {
        const text = some.join(', ');
        const keys = new Set(contactsInText(text, { defaultCountry: 'EE' }));
        // Not the text as a whole, which may be an identifier: it would go whole.
        keys.delete(text);
        const left = withoutContacts(text, (key) => keys.has(key), { defaultCountry: 'EE' });
        if (keys.size === 0) expect(left).toBe(text);
        else expect(left ?? '').not.toMatch(/erika@example\.com|5551 2345|612 3456|brien/);
        expect(withoutContacts(text, () => false, { defaultCountry: 'EE' })).toBe(text);
      }),
    );
  });

  test('it takes no longer than the text is long (audit trace)', () => {
    const texts = [
      'a'.repeat(1e6),
      `${'-'.repeat(1e6)}@`,
      `${'a@'.repeat(5e5)}`,
      '1 '.repeat(5e5),
      `1${'.'.repeat(1e6)}x`,
      `${'1-x '.repeat(2e5)}`,
    ];
    const begun = performance.now();
    for (const text of texts) expect([...contactsInText(text, {})]).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});
