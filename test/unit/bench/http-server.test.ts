import { expect, test } from 'vitest';
import { type Request, RequestReader } from '../../bench/http-server.ts';

const get = 'GET /tickets?ids=1,2 HTTP/1.1\r\nhost: desk\r\n\r\n';
const post = 'POST /appeals/ HTTP/1.1\r\nHost: service\r\nContent-Length: 7\r\n\r\n{"a":1}';
const chunked =
  'PUT /many HTTP/1.1\r\nTransfer-Encoding: chunked\r\nhost: desk\r\n\r\n3;note=1\r\n{"a\r\nC\r\n":"1234\r\n56"\r\n1\r\n}\r\n0\r\n\r\n';
const isGet: Request = { method: 'GET', path: '/tickets?ids=1,2', body: '' };
const isPost: Request = { method: 'POST', path: '/appeals/', body: '{"a":1}' };
const isChunked: Request = { method: 'PUT', path: '/many', body: '{"a":"1234\r\n56"}' };

function readAll(pieces: readonly string[]): Request[] {
  const reader = new RequestReader();
  return pieces.flatMap((piece) => {
    reader.add(piece);
    const found: Request[] = [];
    for (let one = reader.next(); one !== undefined; one = reader.next()) found.push(one);
    return found;
  });
}

const every = (length: number, text: string): string[] => text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];

test.each<[what: string, text: string, requests: Request[]]>([
  ['one without a body', get, [isGet]],
  ['one with a body', post, [isPost]],
  ['one whose body comes in chunks', chunked, [isChunked]],
  ['one without a word of a body', 'DELETE /1 HTTP/1.1\r\n\r\n', [{ method: 'DELETE', path: '/1', body: '' }]],
  ['several', get + chunked + post + post + get, [isGet, isChunked, isPost, isPost, isGet]],
])('a reader takes %s from pieces of any length, and waits for what is missing', (_, text, requests) => {
  for (let length = 1; length <= text.length; length++) expect(readAll(every(length, text))).toEqual(requests);
  expect(readAll([text.slice(0, -1)])).toEqual(requests.slice(0, -1));
});
