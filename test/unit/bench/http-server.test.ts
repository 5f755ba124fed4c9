import { once } from 'node:events';
import { Agent, request as httpRequest, type RequestOptions } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpServer, type Request, RequestReader } from '../../bench/http-server.ts';

const get = 'GET /tickets?ids=1,2 HTTP/1.1\r\nhost: desk\r\n\r\n';
const post = 'POST /appeals/ HTTP/1.1\r\nHost: service\r\nContent-Length: 7\r\n\r\n{"a":1}';
const chunked =
  'PUT /many HTTP/1.1\r\nTransfer-Encoding: chunked\r\nhost: desk\r\n\r\n3;note=1\r\n{"a\r\nC\r\n":"1234\r\n56"\r\n1\r\n}\r\n0\r\n\r\n';
const large = 'x'.repeat(300_000);

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

test.each([
  ['with its length', `POST /large HTTP/1.1\r\ncontent-length:300000\r\n\r\n${large}`],
  ['in a chunk', `POST /large HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n493e0\r\n${large}\r\n0\r\n\r\n`],
])('a reader takes a large body %s', (_, text) => {
  expect(readAll(every(65_536, text + get))).toEqual([{ method: 'POST', path: '/large', body: large }, isGet]);
});

describe('a server', () => {
  const seen: Request[] = [];
  const server = createHttpServer(
    (request) => {
      seen.push(request);
      return { status: request.method === 'GET' ? 200 : 503, body: request.body || '{}' };
    },
    () => 0,
  );
  const agent = new Agent({ keepAlive: true });
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => {
    agent.destroy();
    server.close();
  });

  const url = (): string => {
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/path`;
  };

  test('answers what undici sends', async () => {
    const response = await fetch(url(), { method: 'POST', body: '{"name":"Jüri"}' });
    expect([response.status, response.statusText]).toEqual([503, 'Service Unavailable']);
    expect(await response.json()).toEqual({ name: 'Jüri' });
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'application/json',
      date: expect.stringMatching(/ GMT$/),
      connection: 'keep-alive',
      'keep-alive': 'timeout=120',
      'content-length': '16',
    });
  });

  test('answers what node:http sends, in chunks too, over one connection', async () => {
    const call = async (options: RequestOptions, ...pieces: string[]): Promise<unknown[]> => {
      const request = httpRequest(url(), { agent, ...options });
      for (const piece of pieces) request.write(piece);
      request.end();
      const [response] = await once(request, 'response');
      return [response.statusCode, request.reusedSocket, (await response.toArray()).join('')];
    };
    expect(await call({})).toEqual([200, false, '{}']);
    expect(await call({ method: 'POST' }, '{"a":', '1}')).toEqual([503, true, '{"a":1}']);
    expect(await call({ method: 'PUT', headers: { 'content-length': 2 } }, '[]')).toEqual([503, true, '[]']);
    expect(seen.at(-1)).toEqual({ method: 'PUT', path: '/path', body: '[]' });
  });
});
