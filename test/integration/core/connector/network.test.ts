import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { notingCalls } from '../../../../core/connector/calls.ts';
import type { FeedbackClient } from '../../../../core/feedback/client.ts';
import { FeedbackError } from '../../../../core/feedback/failure.ts';
import { page, phone, record } from '../../../support/core/feedback/samples.ts';
import { all, clientFor, failureOf, listen } from '../../../support/core/feedback/service.ts';
import { listening } from '../../../support/listening.ts';

const read = (c: FeedbackClient) => c.campaign(12);
const write = (c: FeedbackClient) => c.create({ campaign: 12, contact: phone, customFields: {} });
const transient = (outcome: string) => ({ advice: { kind: 'transient' }, outcome, status: undefined });

/** An address where nobody listens. */
async function deserted(): Promise<string> {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, 'close');
  return `127.0.0.1:${port}`;
}

describe('a call that brings no answer', () => {
  test.each([
    ['a refused connection', async () => `http://${await deserted()}/api`, /no connection \(ECONNREFUSED\)/],
    ['TLS to a plain server', async () => (await listen(() => ({}))).url.replace('http', 'https'), /secure connection/],
  ])('it knows that nothing was sent for %s', async (_name, address, says) => {
    for (const call of [read, write]) {
      const error = await failureOf(call(clientFor(await address())));
      expect(error).toBeInstanceOf(FeedbackError);
      expect(error).toMatchObject(transient('never-sent'));
      expect(String(error)).toMatch(says);
    }
  });

  test.each([25, 6000])('it knows that fetch sends nothing to port %i, and who has to act (audit 34)', async (port) => {
    for (const call of [read, write]) {
      const error = await failureOf(call(clientFor(`http://127.0.0.1:${port}/api`)));
      expect(error).toMatchObject({ advice: { kind: 'config' }, outcome: 'never-sent' });
      expect(String(error)).toMatch(/name another port in feedback.baseUrl/);
    }
  });

  test('it knows that nothing was sent for an unknown host', async () => {
    const error = await failureOf(write(clientFor('https://feedback.invalid/api')));
    expect(error).toMatchObject(transient('never-sent'));
    expect(String(error)).toMatch(/host name was not found/);
  });

  test.each([
    ['headers that never come', () => undefined],
    [
      'a body that drips',
      (response: { writeHead: (status: number) => void; write: (text: string) => void }) => {
        response.writeHead(200);
        response.write('{"a":');
      },
    ],
  ])('it gives up on %s, outcome unknown', async (_name, begin) => {
    const service = await listen((_request, response) => {
      begin(response);
      const drip = setInterval(() => response.headersSent && response.write(' '), 20);
      onTestFinished(() => clearInterval(drip));
    });
    for (const call of [read, write]) {
      const error = await failureOf(call(clientFor(service.url, { timeoutMs: 150 })));
      expect(error).toMatchObject(transient('unknown'));
      expect(String(error)).toContain('no complete answer within 150 ms');
    }
    // Neither was repeated; on a slow machine one may not even have arrived in that time.
    expect(service.received.length).toBeLessThanOrEqual(2);
  });

  test('it takes an error status at its word when the body never ends', async () => {
    const service = await listen((_request, response) => {
      response.writeHead(429, { 'retry-after': '3' });
      response.write('{');
    });
    expect(await failureOf(write(clientFor(service.url, { timeoutMs: 150 })))).toMatchObject({
      status: 429,
      advice: { kind: 'transient', throttled: true, retryAfterMs: 3000 },
      outcome: 'refused',
    });
  });

  test('it reads a body of exactly the size that is allowed', async () => {
    const most = 16 * 1024 * 1024;
    const answer = JSON.stringify(page([]));
    const service = await listen((_request, response) => {
      response.writeHead(200);
      response.write(Buffer.alloc(most - answer.length, 32));
      response.end(answer);
    });
    expect(await all(clientFor(service.url).surveys())).toEqual([]);
  });

  test('it stops when asked to, and sends nothing when asked before', async () => {
    const stop = new AbortController();
    const service = await listen(() => stop.abort());
    const client = clientFor(service.url);
    const call = () => client.create({ campaign: 1, contact: phone, customFields: {} }, { signal: stop.signal });
    const stopped = await failureOf(call());
    expect(stopped).toMatchObject(transient('unknown'));
    expect(String(stopped)).toContain('stopped on request');
    expect(await failureOf(call())).toMatchObject(transient('never-sent'));
    expect(service.received).toHaveLength(1);
  });

  test('it reads letters that arrive in two pieces', async () => {
    const body = Buffer.from(JSON.stringify({ ...record, comment: 'Kõik oli hästi' }));
    const inTheMiddle = body.indexOf('õ') + 1;
    const service = await listen((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json' });
      response.write(body.subarray(0, inTheMiddle));
      setTimeout(() => response.end(body.subarray(inTheMiddle)), 50);
    });
    expect(await write(clientFor(service.url))).toMatchObject({ comment: 'Kõik oli hästi' });
  });
});

describe('a connection that dies', () => {
  const cuts = ['destroy', 'resetAndDestroy'] as const;

  test.each(cuts)('it repeats a read once (%s)', async (cut) => {
    let left = 1;
    const service = await listen((_request, _response, socket) => {
      left -= 1;
      if (left < 0) return { body: page([]) };
      socket[cut]();
      return undefined;
    });
    const noted: object[] = [];
    const work = () => all(clientFor(service.url).surveys());
    expect(await notingCalls({ note: (call) => noted.push(call) }, work)).toEqual([]);
    expect(service.received).toHaveLength(2);
    expect(noted).toEqual([
      expect.objectContaining({ to: 'Feedback service', operation: 'GET /surveys/', end: 200, tries: 2 }),
    ]);
  });

  test.each(cuts)('it repeats a read once only (%s)', async (cut) => {
    const service = await listen((_request, _response, socket) => void socket[cut]());
    expect(await failureOf(read(clientFor(service.url)))).toMatchObject(transient('unknown'));
    expect(service.received).toHaveLength(2);
  });

  test.each([
    ['create', write],
    ['grade', (c: FeedbackClient) => c.grade('1', 5)],
    ['comment', (c: FeedbackClient) => c.comment('1', 'x')],
    ['cancel', (c: FeedbackClient) => c.cancel('1')],
    ['mask', (c: FeedbackClient) => c.mask(phone)],
  ])('it never repeats a %s, whose outcome is unknown', async (_name, call) => {
    for (const cut of cuts) {
      const service = await listen((_request, _response, socket) => void socket[cut]());
      expect(await failureOf(call(clientFor(service.url)))).toMatchObject(transient('unknown'));
      expect(service.received).toHaveLength(1);
    }
  });

  test('it does not repeat a read whose answer had begun', async () => {
    const service = await listen((_request, response, socket) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"a"', () => socket.resetAndDestroy());
    });
    expect(await failureOf(read(clientFor(service.url)))).toMatchObject(transient('unknown'));
    expect(service.received).toHaveLength(1);
  });
});

/** This process does nothing at all, as when it is stopped: no timer runs, what comes on connections waits. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a create that has to leave by a certain moment', () => {
  const create = (c: FeedbackClient, sendDeadline: Date) =>
    c.create({ campaign: 12, contact: phone, customFields: {} }, { sendDeadline });

  test.each([
    ['while it connected', false],
    ['over a kept connection', true],
  ])('it is not sent when its process stood still past that, %s', async (_name, kept) => {
    const service = await listen(({ method }) => ({ body: method === 'GET' ? page([]) : record }));
    const client = clientFor(service.url, {}, () => new Date());
    if (kept) await all(client.requests());
    const before = service.received.length;
    const call = failureOf(create(client, new Date(Date.now() + 100)));
    standStill(150);
    const error = await call;
    expect(error).toMatchObject(transient('never-sent'));
    expect(String(error)).toContain('stood still');
    expect(service.received).toHaveLength(before);
  });

  test.each([
    ['in time', 60_000],
    ['at the last moment', 0],
  ])('it is sent %s', async (_name, leftMs) => {
    const at = new Date();
    const service = await listen(() => ({ body: record }));
    await create(
      clientFor(service.url, {}, () => at),
      new Date(at.getTime() + leftMs),
    );
    expect(service.received).toHaveLength(1);
  });
});

test('it leaves neither a timer nor a listener behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const service = await listen(({ method }) => (method === 'GET' ? { body: page([]) } : { status: 400 }));
  const client = clientFor(service.url);
  const { signal } = new AbortController();
  const before = timers();
  for (let round = 0; round < 10; round += 1) {
    await all(client.surveys({ signal }));
    await failureOf(client.grade('1', 5, { signal }));
  }
  // A timer that is no call's may begin meanwhile; a process that is done would wait ten seconds for one that is.
  expect(timers() - before).toBeLessThan(10);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('it keeps its connections over calls of every kind, failures included', async () => {
  const service = await listen(({ method, path }) => {
    if (path.endsWith('/grade')) return { status: 400, body: { detail: 'x' } };
    if (path.endsWith('/cancel')) return { status: 301, headers: { location: '/' }, body: 'moved' };
    return method === 'POST' ? { status: 201, body: record } : { body: page([]) };
  });
  const client = clientFor(service.url);
  for (let round = 0; round < 5; round += 1) {
    await all(client.surveys());
    await write(client);
    await failureOf(client.grade('1', 5));
    await failureOf(client.cancel('1'));
    await client.comment('1', 'x');
    await all(client.requests());
  }
  expect(service.received).toHaveLength(30);
  // fetch may open a second one, as a connection becomes free only a tick after its answer was read.
  expect(new Set(service.received.map(({ connection }) => connection)).size).toBeLessThanOrEqual(2);
});
