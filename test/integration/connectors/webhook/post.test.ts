import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventOf, idOf, poster, writer } from '../../../../connectors/webhook/receiver.ts';
import type { WriteBack } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { isSigned } from '../../../../standins/webhook/standin.ts';
import { openPorts } from '../../../support/contract/bench.ts';

const secrets = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`, `whsec_${Buffer.alloc(32, 2).toString('base64')}`];
const item: WriteBack = {
  recordId: 'J%207',
  status: 'answered',
  requestId: '812',
  marker: 'jobs/J%207.1.v1',
  grade: 4,
  comment: 'Tom & "Anna"',
  answeredAt: new Date('2026-11-21T10:00:00Z'),
  campaign: 'After the job',
  maxGrade: 5,
  answers: { 17: ['a', 'b'] },
};

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

async function receiver(answer: Answer = (response) => response.writeHead(204).end(), host = '127.0.0.1') {
  const seen: { headers: Record<string, string>; body: string }[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, one]) => [name, String(one)]));
      seen.push({ headers, body });
      answer(response, request);
    });
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return { url: `http://${host}:${port}/in`, seen, connections: () => connections };
}

const posting = (url: string, allowPrivate = true) => {
  const { ports, asked } = openPorts();
  return { post: poster({ url, secrets, allowPrivate, include: [], noAnswer: false }, ports), asked };
};

async function thrownBy(work: () => Promise<unknown>): Promise<CloseloopError> {
  const thrown = await work().catch((error: unknown) => error);
  return thrown instanceof CloseloopError ? thrown : expect.fail(`no CloseloopError: ${String(thrown)}`);
}

describe('what is posted', () => {
  test('it is signed with both secrets, by the word of another implementation', async () => {
    const { url, seen } = await receiver();
    const { post } = posting(url);
    expect(await post(idOf(item), eventOf(item, ['comment', 'answers']))).toBe('taken');
    const [{ headers, body } = expect.fail('nothing came')] = seen;
    for (const secret of secrets) expect(isSigned(headers, Buffer.from(body), secret, new Date())).toBe(true);
    expect(isSigned(headers, Buffer.from(`${body} `), secrets[0] ?? '', new Date())).toBe(false);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': idOf(item) });
    expect(idOf(item)).toMatch(/^fb_[\w-]{32}$/);
    expect(JSON.parse(body)).toEqual({
      type: 'feedback.answered',
      timestamp: '2026-11-21T10:00:00.000Z',
      data: {
        record: 'J 7',
        request: '812',
        campaign: 'After the job',
        grade: 4,
        maxGrade: 5,
        comment: 'Tom & "Anna"',
        answers: { 17: ['a', 'b'] },
        answeredAt: '2026-11-21T10:00:00.000Z',
      },
    });
  });

  test('it holds no words of the customer where they are left out, and says when nobody answered', () => {
    expect(eventOf(item, []).data).toMatchObject({ grade: 4, comment: null, answers: {} });
    const { maxGrade: _, requestId: _1, answers: _2, ...bare } = item;
    const none = eventOf({ ...bare, status: 'no-answer', grade: null, comment: null }, ['comment', 'answers']);
    expect(none).toMatchObject({ type: 'feedback.unanswered', data: { request: null, maxGrade: null, answers: {} } });
  });

  test('its id is the same for the same version of an answer, and for no other', () => {
    expect(idOf({ ...item })).toBe(idOf(item));
    expect(idOf({ ...item, marker: 'jobs/J%207.1.v2' })).not.toBe(idOf(item));
    expect(idOf({ ...item, recordId: 'K' })).not.toBe(idOf(item));
  });
});

describe('an answer of the receiver', () => {
  const rows: [status: number, headers: Record<string, string>, body: string, expected: object | string][] = [
    [200, {}, 'ok', 'taken'],
    [200, { 'content-type': 'text/html' }, 'thanks', 'taken'],
    [202, {}, '{"queued":true}', 'taken'],
    [204, {}, '', 'taken'],
    [200, {}, '<!DOCTYPE html><html>log in</html>', { advice: { kind: 'transient' }, outcome: 'unknown' }],
    [301, { location: 'https://elsewhere.example/' }, '', { advice: { kind: 'config' } }],
    [400, {}, '{"error":"hanna@example.com"}', { advice: { kind: 'permanent' }, outcome: 'refused' }],
    [401, {}, '', { advice: { kind: 'config' } }],
    [403, {}, '', { advice: { kind: 'config' } }],
    [404, {}, '{"error":"no such job"}', 'not-found'],
    [404, {}, '', 'not-found'],
    [404, {}, 'Cannot POST /in', { advice: { kind: 'config' } }],
    [408, {}, '', { advice: { kind: 'transient' } }],
    [409, {}, '', { advice: { kind: 'transient' } }],
    [410, {}, '', { advice: { kind: 'config' }, message: expect.stringMatching(/it wants no more events \(410\)/) }],
    [422, {}, '', { advice: { kind: 'permanent' } }],
    [429, { 'retry-after': '7' }, '', { advice: { kind: 'transient', throttled: true, retryAfterMs: 7_000 } }],
    [500, {}, 'hanna@example.com', { advice: { kind: 'transient' }, outcome: 'unknown' }],
    [502, {}, '<html>', { advice: { kind: 'transient' } }],
    [503, { 'retry-after': '9' }, '', { advice: { kind: 'transient', retryAfterMs: 9_000, throttled: true } }],
    [504, {}, '', { advice: { kind: 'transient' } }],
  ];
  test.each(rows)('it is understood: %i %j %s', async (status, headers, body, expected) => {
    const { url, seen } = await receiver((response) => response.writeHead(status, headers).end(body));
    const { post } = posting(url);
    if (typeof expected === 'string') expect(await post('fb_1', {})).toBe(expected);
    else {
      const error = await thrownBy(() => post('fb_1', {}));
      expect(error).toMatchObject(expected);
      expect(error.message).not.toContain('hanna');
    }
    // A redirect is not followed, and nothing is repeated here.
    expect(seen).toHaveLength(1);
  });

  test('it makes all processes wait where it asks for that', async () => {
    const { url } = await receiver((response) => response.writeHead(429, { 'retry-after': '7' }).end());
    const { post, asked } = posting(url);
    await thrownBy(() => post('fb_1', {}));
    expect([asked.takes, asked.pauses]).toEqual([['work'], [7_000]]);
  });

  test('it may be endless: its beginning is enough', async () => {
    const { url } = await receiver((response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write('x'.repeat(1_000)), 1);
      response.on('close', () => clearInterval(more));
    });
    expect(await posting(url).post('fb_1', {})).toBe('taken');
  });

  test('a connection that is refused was never sent, one that is cut may have been', async () => {
    const { url } = await receiver((response) => response.destroy());
    expect(await thrownBy(() => posting(url).post('fb_1', {}))).toMatchObject({ outcome: 'unknown' });
    const away = await receiver();
    for (const close of open.splice(0)) close();
    const refused = await thrownBy(() => posting(away.url).post('fb_1', {}));
    expect(refused).toMatchObject({ advice: { kind: 'transient' }, outcome: 'never-sent' });
  });
});

describe('a private address', () => {
  const expected = {
    advice: { kind: 'config' },
    outcome: 'never-sent',
    message: expect.stringMatching(/private address.*allowPrivate/),
  };

  test('it is not called, neither as it stands nor under a name', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const { url, connections } = await receiver(undefined, host);
      expect(await thrownBy(() => posting(url, false).post('fb_1', {}))).toMatchObject(expected);
      expect(connections()).toBe(0);
      expect(await posting(url, true).post('fb_1', {})).toBe('taken');
    }
  });

  test.each(['https://[::1]/', 'https://169.254.169.254/latest', 'https://0x7f.1/', 'https://[::ffff:10.0.0.1]/'])(
    'it is not called: %s',
    async (url) => {
      const { post, asked } = posting(url, false);
      expect(await thrownBy(() => post('fb_1', {}))).toMatchObject(expected);
      expect(asked.fetches).toBe(0);
    },
  );
});

const asTheyAre = async (ids: readonly string[]) => [...ids];

describe('several answers', () => {
  test('those of one record go in order, and one that is refused fails alone', async () => {
    const told: string[] = [];
    const post = async (id: string) => {
      told.push(id);
      if (id === idOf({ recordId: 'b', marker: 'b1' })) throw new CloseloopError('no', { kind: 'permanent' });
      return 'taken' as const;
    };
    const items = ['a1', 'b1', 'a2', 'c1'].map((marker) => ({ ...item, recordId: marker.charAt(0), marker }));
    const results = await writer(['comment'], post, asTheyAre)(items);
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true, true]);
    const place = (marker: string) => told.indexOf(idOf({ recordId: marker.charAt(0), marker }));
    expect(place('a1')).toBeLessThan(place('a2'));
  });

  test('after a failure that all would meet no further call is made; if none got through it is the whole call that failed', async () => {
    const items = Array.from({ length: 20 }, (_, i) => ({ ...item, recordId: `r${i}`, marker: `m${i}` }));
    let calls = 0;
    const failing = (from: number) => async () => {
      if (calls++ >= from) throw new CloseloopError('later', { kind: 'transient' });
      return 'taken' as const;
    };
    const results = await writer([], failing(5), asTheyAre)(items);
    expect(results.filter(({ ok }) => ok)).toHaveLength(5);
    expect(calls).toBeLessThanOrEqual(10);
    calls = 0;
    await expect(writer([], failing(0), asTheyAre)(items)).rejects.toThrow('later');
  });
});
