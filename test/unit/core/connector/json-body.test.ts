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
