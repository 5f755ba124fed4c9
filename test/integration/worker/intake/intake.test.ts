import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mostEvents, type SourceEvent } from '../../../../core/connector/contract.ts';
import { intakeLimits } from '../../../../worker/intake/intake.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { mostInATurn } from '../../../support/turns.ts';
import { headOf, openDoor, type RawRequest } from '../../../support/worker/intake/door.ts';

const redis = useRedis();

test('a source whose store does not answer is told to come again, and the other sources go on (audit 20)', async () => {
  const never = new Promise<void>(() => undefined);
  const stored: string[] = [];
  const door = await openDoor({
    store: async (source) => {
      if (source === 'one') await never;
      stored.push(source);
    },
  });
  // The first waits for its store; those after it are refused at once, as nothing more is sent while it owes an answer.
  expect((await door.post('one')).status).toBe(503);
  expect((await door.post('one')).status).toBe(503);
  expect((await door.post('two')).status).toBe(202);
  expect(stored).toEqual(['two']);
});

describe('what is wrong by its head is answered before the body comes', () => {
  const rows: [what: string, line: string, headers: string[], status: number][] = [
    ['an unknown source', 'POST /hooks/nobody', headOf(1_000), 404],
    ['a source named like a property of objects', 'POST /hooks/__proto__', headOf(1_000), 404],
    ['a path that nobody listens on', 'POST /elsewhere', headOf(1_000), 404],
    ['another method', 'PUT /hooks/one', headOf(1_000), 405],
    ['another type', 'POST /hooks/one', ['Content-Type: text/plain', 'Content-Length: 1000'], 415],
    ['an announced length over 1 MiB', 'POST /hooks/one', headOf(1024 * 1024 + 1), 413],
  ];
  test.each(rows)('%s (audit 27)', async (_, line, headers, status) => {
    const door = await openDoor();
    const request = await door.head(line, headers);
    expect(await request.status).toBe(status);
    request.socket.destroy();
  });
});

test.each([
  ['stands still', 0, [408]],
  // What is written to a connection that was cut resets it, and an answer that the client had not read by then is gone.
  ['drips', 50, [408, 'no answer']],
])('a body that %s, and is not whole after its time, ten seconds, is cut (audit 27)', async (_, everyMs, answers) => {
  expect(intakeLimits).toMatchObject({ requestMs: 10_000, checkMs: 1_000 });
  const door = await openDoor({ limits: { requestMs: 1_000, checkMs: 100 } });
  const begun = Date.now();
  const request = await door.head('POST /hooks/one', headOf(1_000));
  request.socket.on('error', () => undefined);
  const cut = new Promise((resolve) => request.socket.once('close', resolve));
  const dripping = everyMs > 0 ? setInterval(() => request.socket.write('x'), everyMs) : undefined;
  expect(answers).toContain(await request.status.catch(() => 'no answer'));
  await cut;
  clearInterval(dripping);
  // Node's own limit would be 72 seconds.
  expect(Date.now() - begun).toBeLessThan(60_000);
});

test('a head that is not whole after its time is cut (audit 27)', async () => {
  const door = await openDoor({ limits: { requestMs: 300, checkMs: 50 } });
  const request = await door.head('POST /hooks/one', []);
  request.socket.write('POST /hooks/one HTTP/1.1\r\nX-Slow: ');
  await once(request.socket, 'close');
});

const pieces: [bytes: number, status: number][] = [
  [1, 400],
  [40, 202],
];
test.each(pieces)(
  'a body that comes in pieces of %d is answered with %d: each has its price',
  async (bytes, status) => {
    const door = await openDoor();
    const body = JSON.stringify([{ kind: 'closed', id: 'a', at: new Date() }]).padEnd(100_000, ' ');
    const head = ['Content-Type: application/json', 'Transfer-Encoding: chunked', 'X-Toy-Secret: good'];
    const request = await door.head('POST /hooks/one', head);
    const each = body.match(new RegExp(`.{${bytes}}`, 'g')) ?? [];
    request.socket.write(`${each.map((one) => `${bytes.toString(16)}\r\n${one}\r\n`).join('')}0\r\n\r\n`);
    expect(await request.status).toBe(status);
    request.socket.destroy();
  },
);

test.each([
  ['levels', `${'['.repeat(65)}${']'.repeat(65)}`, 'nests more than 64 levels deep'],
  ['entries', `[${'0,'.repeat(100_000)}0]`, 'has more than 100000 entries'],
])('a signed body of too many %s is refused before anything parses it (audit loop)', async (_, body, why) => {
  const door = await openDoor();
  const answer = await door.post('one', body);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({ error: `the body ${why}` });
});

test.each([
  ['GET /healthz HTTP/1.1\r\nHost: closeloop\r\n\r\n', 200],
  // Node itself would answer each of these, and count none.
  ['GET /healthz HTTP/1.1\r\n\r\n', 200],
  [`POST /hooks/one HTTP/1.1\r\nHost: closeloop\r\n${headOf(2).join('\r\n')}\r\n\r\n[]`, 401],
])('a connection that sends many requests at once is closed, a few are answered: %j', async (text, status) => {
  const door = await openDoor();
  const ask = async (times: number, last: string) => {
    const socket = createConnection(Number(new URL(door.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    let answers = '';
    socket.on('data', (piece: Buffer) => {
      answers += piece.toString('latin1');
    });
    socket.write(text.repeat(times) + last);
    await new Promise((resolve) => socket.once('close', resolve));
    return answers.match(/HTTP\/1\.1 \d{3}/g) ?? [];
  };
  const close = 'GET /healthz HTTP/1.1\r\nHost: closeloop\r\nConnection: close\r\n\r\n';
  expect(await ask(5, close)).toEqual([...Array(5).fill(`HTTP/1.1 ${status}`), 'HTTP/1.1 200']);
  expect((await ask(1_000, close)).length).toBeLessThan(100);
  expect(door.told.filter(({ fields }) => `${fields.why}`.startsWith('more than ten requests')).length).toBe(1);
});

test('deliveries that become whole at once are taken over several turns of the event loop (audit loop)', async () => {
  const { counted, count } = mostInATurn();
  const door = await openDoor({ store: async () => count() });
  const body = JSON.stringify([{ kind: 'closed', id: 'a', at: new Date() }]).padEnd(100_000, ' ');
  const requests = await Promise.all(
    Array.from({ length: 20 }, () => door.head('POST /hooks/one', headOf(body.length, 'X-Toy-Secret: good'))),
  );
  for (const { socket } of requests) socket.write(body.slice(0, -1));
  await nextTurn();
  for (const { socket } of requests) socket.write(body.slice(-1));
  for (const { status } of requests) expect(await status).toBe(202);
  for (const { socket } of requests) socket.destroy();
  // A turn that was planned before the count began anew is counted with the one before.
  expect(counted.most).toBeLessThanOrEqual(2);
});

test('a body in tiny pieces for which nobody waits is not read to its end (audit loop)', async () => {
  const door = await openDoor({ limits: { requestMs: 5_000 } });
  const opened = once(door.app.server, 'connection');
  const request = await door.head('POST /nowhere', ['Transfer-Encoding: chunked']);
  const [server] = await opened;
  request.socket.write('1\r\nx\r\n'.repeat(1_000_000));
  expect(await request.status).toBe(404);
  if (!request.socket.closed) await new Promise((resolve) => request.socket.once('close', resolve));
  expect(z.object({ bytesRead: z.number() }).parse(server).bytesRead).toBeLessThan(3_000_000);
});

describe('limits', () => {
  const kibibyte = 1024;

  test('when too many bytes are on their way the body that has waited longest gives way to a delivery (audit 27)', async () => {
    const door = await openDoor({ limits: { allBytes: 100 * kibibyte } });
    const slow: RawRequest[] = [];
    for (let i = 0; i < 3; i++) {
      const request = await door.head('POST /hooks/one', headOf(50 * kibibyte));
      request.socket.write(Buffer.alloc(32 * kibibyte, ' '));
      slow.push(request);
    }
    // Three of 32 KiB fit. One that is whole within a moment comes through, and only the oldest has paid for it.
    const big = JSON.stringify([{ kind: 'closed', id: 'b', at: new Date() }]).padEnd(30 * kibibyte, ' ');
    expect((await door.post('two', big)).status).toBe(202);
    expect(await slow[0]?.status).toBe(503);
    for (const { socket } of slow.slice(1)) socket.write(Buffer.alloc(18 * kibibyte, ' '));
    expect(await Promise.all(slow.slice(1).map(({ status }) => status))).toEqual([401, 401]);
  });

  test('when there are too many connections the one that has waited longest is closed, not one that is owed an answer (audit 27)', async () => {
    let finish: (() => void) | undefined;
    const store = () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      });
    const door = await openDoor({ limits: { connections: 3 }, store });
    const owed = door.post('one');
    await until(() => finish !== undefined);
    const idle: RawRequest[] = [];
    for (let i = 0; i < 3; i++) idle.push(await door.head('POST /hooks/one', headOf(1_000)));
    await until(() => idle[0]?.socket.closed);
    finish?.();
    expect((await owed).status).toBe(202);
    expect(idle.slice(1).map(({ socket }) => socket.closed)).toEqual([false, false]);
    for (const { socket } of idle) socket.destroy();
  });
});

test('a thousand forged deliveries are two lines of log, and a count in status (audit 29)', async () => {
  const counted: [string, string, number][] = [];
  const door = await openDoor({ countRefused: (...refusal) => void counted.push(refusal) });
  for (let i = 0; i < 20; i++) {
    const forged = Array.from({ length: 50 }, () => door.post('one', '[]', { 'x-toy-secret': 'forged' }));
    for (const answer of await Promise.all(forged)) expect(answer.status).toBe(401);
  }
  for (let i = 0; i < 10; i++) expect((await door.post(`nobody-${i}`)).status).toBe(404);
  await door.app.close();
  expect(door.told).toEqual([
    {
      level: 'warn',
      fields: { source: 'one', why: 'the signature does not match' },
      message: 'delivery refused: signature',
    },
    {
      level: 'warn',
      fields: { why: 'unknown source', example: 'nobody-0' },
      message: 'delivery for a source that is not in the configuration',
    },
    {
      level: 'warn',
      fields: { source: 'one', why: 'the signature does not match', times: 999 },
      message: 'delivery refused: signature, again',
    },
    {
      level: 'warn',
      fields: { why: 'unknown source', times: 9 },
      message: 'delivery for a source that is not in the configuration, again',
    },
  ]);
  // The first at once, for whoever is looking for it.
  expect(counted).toEqual([
    ['one', 'the signature does not match', 1],
    ['one', 'the signature does not match', 999],
  ]);
});

test('a name that no source has is never counted as one, whatever is wrong with the delivery', async () => {
  const counted: unknown[] = [];
  const door = await openDoor({ countRefused: (...refusal) => void counted.push(refusal) });
  const xml = { 'content-type': 'text/xml' };
  for (let i = 0; i < 300; i++) expect((await door.post(`nobody-${i}`, undefined, xml)).status).toBe(404);
  await door.app.close();
  expect(counted).toEqual([]);
  expect(JSON.stringify(door.told)).not.toContain('"source"');
});

test('deliveries that can not be stored are two lines of log as well (audit 29)', async () => {
  const door = await openDoor({ store: () => Promise.reject(new Error('Redis is full')) });
  for (let i = 0; i < 100; i++) expect((await door.post('one')).status).toBe(503);
  await door.app.close();
  expect(door.told.map(({ level, fields }) => [level, fields])).toEqual([
    ['error', { source: 'one', why: 'told to come again: Redis is full' }],
    ['error', { source: 'one', why: 'told to come again: Redis is full', times: 99 }],
  ]);
});

test('a delivery of more events than can be stored in time is refused with what to do, and nothing of it is stored (audit 30)', async () => {
  const loop = await startLoop(redis, { source: 'many' });
  const at = new Date();
  const delivery = (events: number) =>
    loop.vendor.delivery(Array.from({ length: events }, (_, i) => ({ kind: 'changed', id: `${i}`, at })));
  const queued = async () => {
    const queue = loop.app.engine.pipelines.get('many')?.jobs.plan.queue;
    return (await queue?.getJobs())?.length;
  };
  const refused = await loop.post(delivery(15_500));
  expect(refused.status).toBe(413);
  expect(await refused.json()).toEqual({
    error: `A delivery may hold ${mostEvents} events at most. Send them in several.`,
  });
  expect(await queued()).toBe(0);
  await until(async () => (await loop.post(delivery(mostEvents))).status === 202);
  await until(async () => (await loop.app.engine.busy()) === 0);
});

test('while hundreds of events are stored, others get their turn (audit 30)', async () => {
  const loop = await startLoop(redis, { source: 'turns' });
  const events = Array.from({ length: mostEvents }, (_, i): SourceEvent => {
    return { kind: 'changed', recordId: `${i}`, at: new Date(), key: `${i}`, what: 'toy changed' };
  });
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await loop.app.engine.ingestion.store('turns', events, new Date());
  isDone = true;
  expect(turns).toBeGreaterThan(4);
});

test('an address that was put together wrongly is not shown: it may hold a number, an address or a key (audit leak)', async () => {
  const door = await openDoor();
  for (const name of ['mari@example.com', '%2B37255512345', '37255512345', 'whsec_MfKQ9r8GKYqrTwj', 'a9f86c0e2b7d4c'])
    expect((await door.post(name)).status).toBe(404);
  await door.app.close();
  expect(door.told.map(({ fields }) => fields)).toEqual([
    { why: 'unknown source' },
    { why: 'unknown source', times: 4 },
  ]);
});
