import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonBody } from '../../../../core/connector/json-body.ts';

const rows: [what: string, body: Uint8Array | string, expected: unknown][] = [
  ['reads a text', '{"a":[1]}', { a: [1] }],
  ['reads bytes', Buffer.from('"õ"'), 'õ'],
  ['gives nothing for what is no JSON', '{"a":', undefined],
  ['gives nothing for an empty body', new Uint8Array(), undefined],
  ['gives nothing for bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), undefined],
];
test.each(rows)('it %s', (_what, body, expected) => expect(jsonBody(body)).toEqual(expected));

test('it says nothing for no JSON as a value that is there, not as one left out', () => {
  expect([jsonBody('{'), jsonBody('{9007199254740993')]).toStrictEqual([undefined, undefined]);
});

const exact: [what: string, body: string, expected: unknown][] = [
  ['keeps the digits of a number that is too large, as text', '[9007199254740993]', ['9007199254740993']],
  ['keeps those of one that is too far below 0', '{"a":-9007199254740993}', { a: '-9007199254740993' }],
  ['keeps those of the first that a number can not hold', '[9007199254740992]', ['9007199254740992']],
  ['leaves a number as it is that a number can hold', '[9007199254740991,-7,0]', [9007199254740991, -7, 0]],
  ['leaves fractions and powers of ten as they are', '[1.5,1e21,-1.5e30]', [1.5, 1e21, -1.5e30]],
  [
    'keeps 21 digits and more',
    `{"id": 123456789012345678901 , "other":[${'9'.repeat(60)}]}`,
    { id: '123456789012345678901', other: ['9'.repeat(60)] },
  ],
  ['keeps them where the whole body is one', ' 9007199254740993\n', '9007199254740993'],
  [
    'leaves digits within texts as they are',
    '["a \\" 9007199254740993, õ",9007199254740993]',
    ['a " 9007199254740993, õ', '9007199254740993'],
  ],
  [
    'leaves numbers with many decimals as they are',
    '[0.12345678901234567,-9007199254740993e3]',
    [Number('0.12345678901234567'), Number('-9007199254740993e3')],
  ],
  ['reads no more as JSON than before: a key', '{9007199254740993 :1}', undefined],
  ['reads no more as JSON than before: a leading 0', '[09007199254740993]', undefined],
  ['reads no more as JSON than before: a sum', '[9007199254740993-1]', undefined],
  ['leaves texts and the rest as they are', '["9007199254740993",null,true]', ['9007199254740993', null, true]],
];
test.each(exact)('read for its ids, it %s', (_what, body, expected) => {
  expect(jsonBody(body)).toStrictEqual(expected);
  expect(jsonBody(Buffer.from(body))).toStrictEqual(expected);
});

test('it reads any JSON as the parser does, but for long integers, which are texts', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      fc.constantFrom(null, true, 1.5, -0.1, 1e300),
      fc.string({ unit: 'grapheme' }),
      fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('any'), { maxKeys: 4 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1), (one, space) => {
      const isLong = (held: unknown): held is bigint => typeof held === 'bigint' && !Number.isSafeInteger(Number(held));
      const write = (_: string, held: unknown): unknown =>
        typeof held === 'bigint' ? JSON.rawJSON(String(held)) : held;
      const expected = (_: string, held: unknown): unknown =>
        typeof held === 'bigint' ? (isLong(held) ? String(held) : Number(held)) : held;
      expect(jsonBody(JSON.stringify(one, write, space))).toStrictEqual(JSON.parse(JSON.stringify(one, expected)));
    }),
  );
});
