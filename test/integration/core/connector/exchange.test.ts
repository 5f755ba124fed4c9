import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { describe, expect, test } from 'vitest';
import { exchange } from '../../../../core/connector/exchange.ts';
import { listening } from '../../../support/listening.ts';

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  return { url: `http://127.0.0.1:${await listening(server)}`, server };
}

async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const long = 'Kõik on väga hästi. '.repeat(20_000);

describe('a body', () => {
  const bodies: [how: string, coding: string, bytes: Buffer][] = [
    ['as it is', '', Buffer.from(long)],
    ['in gzip', 'gzip', gzipSync(long)],
    ['in brotli', 'br', brotliCompressSync(long)],
    ['in two codings', 'br, gzip', gzipSync(brotliCompressSync(long))],
    ['empty, in gzip', 'gzip', Buffer.alloc(0)],
    ['in a coding that was not asked for', 'zstd', Buffer.from(long)],
    ['in more codings than are undone', 'gzip, gzip, gzip, gzip', Buffer.from(long)],
  ];
  test.each(bodies)('%s comes as it was before the coding', async (_how, coding, bytes) => {
    const { url } = await serve((_request, response) =>
      response.writeHead(200, coding === '' ? {} : { 'content-encoding': coding }).end(bytes),
    );
    const { status, body } = await exchange(url, {});
    expect([status, await textOf(body)]).toEqual([200, bytes.length === 0 ? '' : long]);
  });

  test('that no gzip is, though it says so, fails', async () => {
    const { url } = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"grade":5}'),
    );
    const { body } = await exchange(url, {});
    await expect(textOf(body)).rejects.toMatchObject({ code: 'Z_DATA_ERROR' });
  });

  test('that breaks off fails', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('[1,');
      setImmediate(() => response.destroy());
    });
    const { body } = await exchange(url, {});
    await expect(textOf(body)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  });

  test.each([
    ['as it is', ''],
    ['in gzip', 'gzip'],
  ])('without end, %s, of which the reader has enough, ends with its connection', async (_how, coding) => {
    let closed: Promise<unknown> = Promise.resolve();
    const { url } = await serve((_request, response) => {
      closed = once(response, 'close');
      response.writeHead(200, coding === '' ? {} : { 'content-encoding': coding });
      pour(response, coding === '' ? Buffer.from(long) : gzipSync(long));
    });
    const { body } = await exchange(url, {});
    for await (const chunk of body ?? []) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await closed;
  });

  test('is read no further ahead than 64 KiB, and what came with that', async () => {
    const { url } = await serve((_request, response) => pour(response, Buffer.from(long)));
    const { body } = await exchange(url, {});
    if (!(body instanceof Readable)) return expect.unreachable();
    await sleep(200);
    expect(body.readableLength).toBeLessThanOrEqual(2 * 65_536);
    body.on('error', () => undefined).destroy();
  });
});

/** Writes without end, as fast as the other side reads. */
function pour(response: ServerResponse, piece: Buffer): void {
  if (!response.destroyed) response.write(piece, (failed) => failed ?? pour(response, piece));
}

describe('a request', () => {
  test('arrives as it was given, and says who sends it', async () => {
    const seen: unknown[] = [];
    const { url } = await serve((request, response) => {
      const { accept, authorization, 'user-agent': agent, 'content-length': length } = request.headers;
      seen.push([request.method, request.url, accept, authorization, agent, length]);
      response.writeHead(204, { 'x-limit': '7', 'set-cookie': ['a=1', 'b=2'] }).end();
    });
    const headers = { Accept: 'application/json', Authorization: 'Token k\n' };
    const { headers: received, body } = await exchange(`${url}/a?b=%20c#d`, {
      method: 'POST',
      headers,
      body: '{"ä":1}',
    });
    expect([received.get('X-Limit'), received.get('set-cookie'), received.get('etag')]).toEqual([
      '7',
      'a=1, b=2',
      null,
    ]);
    expect(Object.fromEntries(received)).toMatchObject({ 'x-limit': '7', 'set-cookie': 'a=1, b=2' });
    expect(await textOf(body)).toBe('');
    expect(seen).toEqual([['POST', '/a?b=%20c', 'application/json', 'Token k', 'closeloop', '8']]);
  });

  test('that is given up before its response begins is rejected with the reason, and its connection ends', async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    const { url } = await serve((_request, response) => asked.resolve(response));
    const giveUp = new AbortController();
    const call = exchange(url, { signal: giveUp.signal }).catch((error: unknown) => error);
    const closed = once(await asked.promise, 'close');
    giveUp.abort('enough');
    expect(await call).toBe('enough');
    await closed;
  });

  test('that is given up before it begins is rejected with the reason, and needs no connection', async () => {
    const reason = new Error('given up');
    const init = { signal: AbortSignal.abort(reason), dispatcher: { dispatch: () => expect.unreachable() } };
    await expect(exchange('http://127.0.0.1:9', init)).rejects.toBe(reason);
  });

  test('that is given up before it has a connection is rejected at once', async () => {
    const giveUp = new AbortController();
    const init = { signal: giveUp.signal, dispatcher: { dispatch: () => true } };
    const call = exchange('http://127.0.0.1:9', init).catch((error: unknown) => error);
    giveUp.abort('enough');
    expect(await call).toBe('enough');
  });

  test('that is given up while it is connecting is never sent', async () => {
    const { url, server } = await serve((_request, response) => response.end());
    let requests = 0;
    server.on('request', () => requests++);
    const giveUp = new AbortController();
    const call = exchange(url, { signal: giveUp.signal }).catch((error: unknown) => error);
    giveUp.abort('enough');
    expect(await call).toBe('enough');
    await textOf((await exchange(url, {})).body);
    expect(requests).toBe(1);
  });

  test.each([
    ['has no deadline but that of its caller: undici is to keep none of its own', new AbortController().signal, 0],
    ["without a deadline of its caller keeps undici's own", undefined, undefined],
  ])('%s', (_what, signal, limit) => {
    const asked: Dispatcher.DispatchOptions[] = [];
    const dispatcher = { dispatch: (options: Dispatcher.DispatchOptions) => asked.push(options) > 0 };
    void exchange('http://127.0.0.1:9/a?b=c', Object.assign({ method: 'GET' }, signal && { signal }, { dispatcher }));
    expect(asked).toMatchObject([{ origin: 'http://127.0.0.1:9', path: '/a?b=c' }]);
    expect(asked.map(({ headersTimeout, bodyTimeout }) => [headersTimeout, bodyTimeout])).toEqual([[limit, limit]]);
  });

  test('shares a kept connection with those before it', async () => {
    const { url, server } = await serve((_request, response) => response.end('1'));
    let connections = 0;
    server.on('connection', () => connections++);
    for (let i = 0; i < 10; i++) await textOf((await exchange(url, {})).body);
    // The next request may begin before the connection of the last one is free.
    expect(connections).toBeLessThanOrEqual(2);
  });

  test('to nobody fails with the code of the system', async () => {
    const { url, server } = await serve(() => undefined);
    server.close();
    await once(server, 'close');
    await expect(exchange(url, {})).rejects.toMatchObject({ code: 'ECONNREFUSED', syscall: 'connect' });
  });
});
