import { expect, test } from 'vitest';
import { exactJsonBody, jsonBody } from '../../../../core/connector/json-body.ts';

const rows: [what: string, body: Uint8Array | string, expected: unknown][] = [
  ['reads a text', '{"a":[1]}', { a: [1] }],
  ['reads bytes', Buffer.from('"õ"'), 'õ'],
  ['gives nothing for what is no JSON', '{"a":', undefined],
  ['gives nothing for an empty body', new Uint8Array(), undefined],
  ['gives nothing for bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), undefined],
];
test.each(rows)('it %s', (_what, body, expected) => expect(jsonBody(body)).toEqual(expected));

test('it says nothing for no JSON as a value that is there, not as one left out', () => {
  expect([jsonBody('{'), exactJsonBody('{')]).toStrictEqual([undefined, undefined]);
});

const exact: [what: string, body: string, expected: unknown][] = [
  ['keeps the digits of a number that is too large, as text', '[9007199254740993]', ['9007199254740993']],
  ['keeps those of one that is too far below 0', '{"a":-9007199254740993}', { a: '-9007199254740993' }],
  ['keeps those of the first that a number can not hold', '[9007199254740992]', ['9007199254740992']],
  ['leaves a number as it is that a number can hold', '[9007199254740991,-7,0]', [9007199254740991, -7, 0]],
  ['leaves fractions and powers of ten as they are', '[1.5,1e21,-1.5e30]', [1.5, 1e21, -1.5e30]],
  ['leaves texts and the rest as they are', '["9007199254740993",null,true]', ['9007199254740993', null, true]],
];
test.each(exact)('read for its ids, it %s', (_what, body, expected) => {
  expect(exactJsonBody(body)).toStrictEqual(expected);
  expect(exactJsonBody(Buffer.from(body))).toStrictEqual(expected);
});
