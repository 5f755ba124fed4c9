import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test, vi } from 'vitest';
import { type Converted, convert, type FieldDefinition } from '../../../../core/mapping/field-value.ts';

const timeZone = 'Europe/Tallinn';
type Type = FieldDefinition['field_type'];

const definition = (field_type: Type, choices: string[] = []): FieldDefinition => ({
  name: 'Field',
  field_type,
  required: false,
  choices,
});
const becomes = (value: string | number | boolean | undefined): Converted => ({ ok: true, value });
const fails = (why: string): Converted => ({ ok: false, why });
const shown = (value: unknown) => JSON.stringify(value) ?? 'undefined';

const types: Type[] = ['Text', 'Integer', 'Date', 'Time', 'Date and time', 'Yes/No', 'Choice', 'URL address'];

describe('empty', () => {
  for (const type of types) {
    for (const value of [undefined, null, '', ' \n', [], [null], [['']]]) {
      test(`is absent for ${type}: ${shown(value)}`, () => {
        expect(convert(definition(type, ['', ' ']), value, { timeZone })).toStrictEqual(becomes(undefined));
      });
    }
  }
});

test.each(types)('zero-width text is absent for %s (audit 34)', (type) => {
  for (const value of ['\u200b', ' \ufeff\u2060 ', '\u00ad', '\u3164', ['\u200b']])
    expect(convert(definition(type), value, { timeZone })).toStrictEqual(becomes(undefined));
});

describe('what is no single value', () => {
  for (const type of types) {
    test(`is refused for ${type}`, () => {
      const of = (value: unknown) => convert(definition(type), value, { timeZone });
      expect(of(['a', 'b'])).toStrictEqual(fails('a list of 2 values; take one, or $join() them'));
      expect(of({ name: 'a' })).toStrictEqual(fails('an object, not a value; name the part of it that is meant'));
    });
  }
});

const date = (why: string) => fails(`a text that isn't ${why}`);
const notDate = date('a date (2026-11-21) or a date and time');
const notTime = date('a time of day (09:30, 09:30:15) or a date and time');
const notBoth = date('a date and time (2026-11-21T09:30:00Z)');
const outside = fails('a date and time outside the years 1 to 9999');
const number = (what: string) => fails(`a number, not ${what}; for milliseconds since 1970 write $fromMillis(…)`);

const rows: Record<Exclude<Type, 'Choice'>, [value: unknown, expected: Converted][]> = {
  Text: [
    ['Kadriorg', becomes('Kadriorg')],
    ['  Kadriorg ', becomes('Kadriorg')],
    [[['Kadriorg']], becomes('Kadriorg')],
    [Number.NaN, fails('an object, not a value; name the part of it that is meant')],
    [['Kadriorg'], becomes('Kadriorg')],
    [42, becomes('42')],
    [1.5, becomes('1.5')],
    [false, becomes('false')],
    ['\ud800', fails('a text that is not valid Unicode')],
  ],
  Integer: [
    ['42', becomes(42)],
    [42, becomes(42)],
    [42.0, becomes(42)],
    ['42.00', becomes(42)],
    [' +7 ', becomes(7)],
    ['-7', becomes(-7)],
    ['-0', becomes(0)],
    ['007', becomes(7)],
    ['9007199254740991', becomes(9007199254740991)],
    ['42.5', fails("a text that isn't a whole number")],
    ['42.', fails("a text that isn't a whole number")],
    ['no. 42', fails("a text that isn't a whole number")],
    ['42 or so', fails("a text that isn't a whole number")],
    ['-9007199254740991', becomes(-9007199254740991)],
    ['4e2', fails("a text that isn't a whole number")],
    ['1,000', fails("a text that isn't a whole number")],
    ['0x10', fails("a text that isn't a whole number")],
    ['Mari', fails("a text that isn't a whole number")],
    [42.5, fails("a number that isn't whole")],
    ['9007199254740992', fails('a number too large to be exact')],
    [2 ** 53, fails('a number too large to be exact')],
    [true, fails('a yes/no value, not a whole number')],
  ],
  'Yes/No': [
    [true, becomes(true)],
    [false, becomes(false)],
    ['YES', becomes(true)],
    ['no', becomes(false)],
    ['True', becomes(true)],
    ['false', becomes(false)],
    [' 1 ', becomes(true)],
    ['0', becomes(false)],
    [1, becomes(true)],
    [0, becomes(false)],
    [2, fails('a number that is neither true, yes or 1 nor false, no or 0')],
    ['jah', fails('a text that is neither true, yes or 1 nor false, no or 0')],
  ],
  Date: [
    ['2026-11-21', becomes('2026-11-21')],
    ['2028-02-29', becomes('2028-02-29')],
    ['2026-11-21T09:30:00', becomes('2026-11-21')],
    ['2026-11-21T21:59:59Z', becomes('2026-11-21')],
    ['2026-11-21T22:00:00Z', becomes('2026-11-22')],
    ['2026-11-21T23:00:00.123456-05:00', becomes('2026-11-22')],
    ['2026-02-29', notDate],
    ['2026-13-01', notDate],
    ['21.11.2026', notDate],
    ['20261121', notDate],
    ['2026-11-21[Europe/Tallinn]', notDate],
    ['2026-11-21 10:00:00 +25:00', notDate],
    ['on 2026-11-21', notDate],
    ['2026-11-21 or so', notDate],
    ['0000-12-31', notDate],
    ['0001-01-01', becomes('0001-01-01')],
    ['0001-01-01T00:00:00Z', becomes('0001-01-01')],
    ['0001-01-01T00:00:00+14:00', outside],
    ['9999-12-31T12:00:00Z', becomes('9999-12-31')],
    ['9999-12-31T23:00:00Z', outside],
    ['09:30', notDate],
    [1_795_219_200_000, number('a date or time')],
    [true, fails('a yes/no value, not a date or time')],
  ],
  Time: [
    ['09:30', becomes('09:30:00')],
    ['9:30', becomes('09:30:00')],
    ['09:30:15.999', becomes('09:30:15')],
    ['00:00', becomes('00:00:00')],
    ['2026-11-21T09:30:00', becomes('09:30:00')],
    ['2026-11-21T22:30:00Z', becomes('00:30:00')],
    ['2026-11-21T09:30:15,5', becomes('09:30:15')],
    ['9999-12-31T23:00:00Z', outside],
    ['24:00', notTime],
    ['09:60', notTime],
    ['09:30:15.1234567890', notTime],
    ['yesterday', notTime],
    ['9.30', notTime],
    ['T09:30', notTime],
    ['2026-11-21', fails('a date without a time of day')],
    ['09:30+02:00', fails('a time of day with an offset but no date')],
    [930, number('a date or time')],
  ],
  'Date and time': [
    ['2026-11-21T07:30:00Z', becomes('2026-11-21T09:30:00+02:00')],
    ['2026-07-01T07:30:00.999Z', becomes('2026-07-01T10:30:00+03:00')],
    ['2026-11-21t07:30:00z', becomes('2026-11-21T09:30:00+02:00')],
    ['2026-11-21T9:30:00+02', becomes('2026-11-21T09:30:00+02:00')],
    ['2026-11-21   02:00:00 -05:30', becomes('2026-11-21T09:30:00+02:00')],
    ['2026-11-21T09:30:00+24:00', notBoth],
    ['2026-11-21T09:30:00+02:60', notBoth],
    ['2026-11-21 09:30+0200', becomes('2026-11-21T09:30:00+02:00')],
    ['2026-11-21 07:30:00 UTC', becomes('2026-11-21T09:30:00+02:00')],
    ['2026-11-21T09:30', becomes('2026-11-21T09:30:00+02:00')],
    ['2026-03-29T03:30:00', becomes('2026-03-29T04:30:00+03:00')],
    ['2026-10-25T03:30:00', becomes('2026-10-25T03:30:00+03:00')],
    ['2026-10-25T01:30:00Z', becomes('2026-10-25T03:30:00+02:00')],
    ['1900-01-01T00:00:30Z', becomes('1900-01-01T01:39:30+01:39')],
    ['2026-11-21', fails('a date without a time of day')],
    ['09:30', fails('a time of day without a date')],
    ['2026-02-30T09:30:00Z', notBoth],
    ['2026-11-2109:30', notBoth],
    ['9999-12-31T23:00:00Z', fails('a date and time outside the years 1 to 9999')],
    ['yesterday', notBoth],
    [1_795_219_200_000, number('a date or time')],
  ],
  'URL address': [
    ['https://example.com/a?b=c#d', becomes('https://example.com/a?b=c#d')],
    ['HTTP://Example.com', becomes('http://example.com/')],
    [' https://example.com/tellimus/õ ', becomes('https://example.com/tellimus/%C3%B5')],
    ['javascript:alert(1)', fails('an address that is neither http:// nor https://')],
    ['ftp://example.com', fails('an address that is neither http:// nor https://')],
    ['file:///http://example.com', fails('an address that is neither http:// nor https://')],
    ['https:example.com', fails('an address that is neither http:// nor https://')],
    ['/orders/12', fails("a text that isn't a web address (https://…)")],
    ['example.com', fails("a text that isn't a web address (https://…)")],
    ['https://exa mple.com', fails("a text that isn't a web address (https://…)")],
    [42, fails('a number, not a web address')],
    [true, fails('a yes/no value, not a web address')],
  ],
};

for (const type of types) {
  if (type === 'Choice') continue;
  describe(type, () => {
    for (const [value, expected] of rows[type]) {
      test(`${expected.ok ? 'takes' : 'refuses'} ${shown(value)}`, () => {
        expect(convert(definition(type), value, { timeZone })).toStrictEqual(expected);
      });
    }
  });
}

test('a text is put into the form in which it is compared once, however many choices there are (audit loop)', () => {
  const definition = { name: 'Region', field_type: 'Choice' as const, required: false };
  const lowered = vi.spyOn(String.prototype, 'toLowerCase');
  const long = 'x'.repeat(100_000);
  convert({ ...definition, choices: Array.from({ length: 200 }, (_, i) => `choice ${i}`) }, long, { timeZone: 'UTC' });
  const times = lowered.mock.contexts.filter((text) => String(text).length === long.length).length;
  lowered.mockRestore();
  expect(times).toBe(1);
});

describe('Choice', () => {
  const choices = ['North', 'south', 'South', ' West', '1', 'false'];
  const list = '"North", "south", "South", " West", "1", "false"';
  const table: [value: unknown, expected: Converted][] = [
    ['North', becomes('North')],
    [' north ', becomes('North')],
    ['South', becomes('South')],
    ['SOUTH', fails(`a text that fits several choices, differing in case: ${list}`)],
    [' West', becomes(' West')],
    ['west', becomes(' West')],
    [1, becomes('1')],
    [false, becomes('false')],
    ['East', fails(`a text that is none of the choices: ${list}`)],
  ];
  for (const [value, expected] of table) {
    test(`${expected.ok ? 'takes' : 'refuses'} ${shown(value)}`, () => {
      expect(convert(definition('Choice', choices), value, { timeZone })).toStrictEqual(expected);
    });
  }
  test('tells two apart that differ in outer spaces', () => {
    for (const one of ['West', ' West']) {
      expect(convert(definition('Choice', ['West', ' West']), one, { timeZone })).toStrictEqual(becomes(one));
    }
  });
  test('says that there are none', () => {
    expect(convert(definition('Choice'), 'x', { timeZone })).toStrictEqual(
      fails('a text that is none of the choices: the campaign has none'),
    );
  });
});

describe('a conversion', () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
  const instant = fc.integer({ min: Date.parse('1980-01-01T00:00:00Z'), max: Date.parse('2060-01-01T00:00:00Z') });

  test('gives the same again for what it gave: it is stable', () => {
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.webUrl(),
      fc.date({ noInvalidDate: true }).map((at) => at.toISOString()),
    );
    fc.assert(
      fc.property(fc.constantFrom(...types), value, zone, (type, one, place) => {
        const field = definition(type, ['a', 'B', ' c ']);
        const first = convert(field, one, { timeZone: place });
        if (first.ok) expect(convert(field, first.value, { timeZone: place })).toStrictEqual(first);
      }),
      { numRuns: 2_000 },
    );
  });

  test('keeps the instant, to the second, in every zone', () => {
    fc.assert(
      fc.property(instant, zone, (at, place) => {
        const result = convert(definition('Date and time'), new Date(at).toISOString(), { timeZone: place });
        if (!result.ok || typeof result.value !== 'string') throw new Error('it did not convert');
        expect(Date.parse(result.value)).toBe(Math.floor(at / 1_000) * 1_000);
        const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(place);
        expect(result.value.slice(0, 10)).toBe(local.toPlainDate().toString());
      }),
      { numRuns: 500 },
    );
  });

  test('never throws, and never repeats what it refuses', () => {
    const secret = fc.string({ minLength: 12 }).map((text) => `Ž${text}`);
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        fc.oneof(secret, fc.array(secret), fc.record({ name: secret })),
        (type, one) => {
          const result = convert(definition(type), one, { timeZone });
          if (!result.ok) expect(result.why).not.toContain('Ž');
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('takes whatever a person could find in a record without an exception', () => {
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.jsonValue(), (type, one) => {
        const result = convert(definition(type, ['a']), one, { timeZone });
        expect(['string', 'number', 'boolean', 'undefined']).toContain(typeof (result.ok ? result.value : undefined));
      }),
      { numRuns: 1_000 },
    );
  });
});
