import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Delivery, Source } from '../../../../core/connector/contract.ts';
import { openDoor } from '../../../support/worker/intake/door.ts';

/* What some vendors want of the HTTP server beyond the least. */

test('a vendor that tries the address gets the answer that its connector has for it, and nothing is stored', async () => {
  const stored: unknown[] = [];
  const seen: Pick<Delivery, 'method' | 'url'>[] = [];
  const door = await openDoor(
    { store: async (...delivery) => void stored.push(delivery), publicUrl: 'https://closeloop.example' },
    {
      handshake: ({ method, url }) => {
        seen.push({ method, url });
        const challenge = new URL(url).searchParams.get('challenge');
        if (method === 'HEAD') return { status: 200 };
        if (challenge === null) return undefined;
        return { status: 200, headers: { 'content-type': 'text/plain' }, body: challenge };
      },
    },
  );
  const hook = `${door.url}/hooks/one`;
  expect((await fetch(hook, { method: 'HEAD' })).status).toBe(200);
  const answered = await fetch(`${hook}?challenge=c7`);
  expect([answered.status, answered.headers.get('content-type'), await answered.text()]).toEqual([
    200,
    'text/plain',
    'c7',
  ]);
  expect((await fetch(hook)).status).toBe(405);
  expect(stored).toEqual([]);
  expect((await door.post('one')).status).toBe(202);
  expect(stored).toHaveLength(1);
  expect(seen[0]).toEqual({ method: 'HEAD', url: 'https://closeloop.example/hooks/one' });
});

test('a source without a handshake is reached by POST only, and a source that is none by nothing', async () => {
  const door = await openDoor();
  for (const method of ['GET', 'HEAD', 'PUT']) {
    const answered = await fetch(`${door.url}/hooks/one`, { method });
    expect([method, answered.status, answered.headers.get('allow')]).toEqual([method, 405, 'POST']);
    expect((await fetch(`${door.url}/hooks/nobody`, { method })).status).toBe(405);
  }
});

test('a delivery is answered in the words of its vendor, whether it was stored or not', async () => {
  let fails = false;
  const store = async (): Promise<void> => {
    if (fails) throw new Error('Redis is away');
  };
  const xml = { 'content-type': 'text/xml' };
  const door = await openDoor(
    { store },
    { taken: { status: 200, headers: xml, body: '<Ack>true</Ack>' }, notStored: { status: 429, body: 'later' } },
  );
  const taken = await door.post('one');
  expect([taken.status, taken.headers.get('content-type'), await taken.text()]).toEqual([
    200,
    'text/xml',
    '<Ack>true</Ack>',
  ]);
  fails = true;
  const refused = await door.post('one');
  expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([429, null, 'later']);
});

test('a body may be as large as its source takes, and no larger', async () => {
  const mebibyte = 1024 * 1024;
  const body = (bytes: number) => `[${' '.repeat(bytes - 2)}]`;
  const usual = await openDoor();
  expect((await usual.post('one', body(mebibyte))).status).toBe(202);
  expect((await usual.post('one', body(mebibyte + 1))).status).toBe(413);
  const large = await openDoor({}, { largestBody: 4 * mebibyte });
  expect((await large.post('one', body(4 * mebibyte))).status).toBe(202);
  expect((await large.post('one', body(4 * mebibyte + 1))).status).toBe(413);
  expect(large.told).toMatchObject([{ fields: { source: 'one', why: 'it is too large' } }]);
});

test.each([
  ['application/x-www-form-urlencoded', undefined, 415],
  ['application/x-www-form-urlencoded', ['form' as const], 202],
  ['text/xml; charset=UTF-8', undefined, 415],
  ['text/xml; charset=UTF-8', ['form' as const], 415],
  ['text/xml; charset=UTF-8', ['xml' as const], 202],
  ['application/soap+xml', ['xml' as const], 202],
  ['application/json', ['xml' as const], 202],
])('a body of the type %s, at a source that also takes %j, gets %i', async (type, alsoTakes, status) => {
  const counted: unknown[] = [];
  const countRefused = (...refusal: unknown[]) => void counted.push(refusal);
  const door = await openDoor({ countRefused }, alsoTakes === undefined ? {} : { alsoTakes });
  expect((await door.post('one', undefined, { 'content-type': type })).status).toBe(status);
  const why = 'it is not sent with Content-Type: application/json';
  expect(counted).toEqual(status === 415 ? [['one', why, 1]] : []);
});

test('a delivery is answered and counted alike with and without the router', async () => {
  let fails = false;
  const store = async (): Promise<void> => {
    if (fails) throw new Error('Redis is away');
  };
  const counted: [string | undefined, number][] = [];
  const onAnswered = (source: string | undefined, status: number) => void counted.push([source, status]);
  const doors = [
    await openDoor({ store, onAnswered }),
    await openDoor({ store, onAnswered }, { taken: { status: 200, body: 'OK' }, notStored: { status: 429 } }),
  ];
  const event = JSON.stringify([{ kind: 'closed', id: 'a', at: new Date() }]);
  const deliveries: [body: string, headers: Record<string, string>, redis: 'up' | 'down', statuses: number[]][] = [
    [event, {}, 'up', [202, 200]],
    [event, { 'x-toy-secret': 'bad' }, 'up', [401, 401]],
    ['{', {}, 'up', [400, 400]],
    [event.padEnd(1024 * 1024 + 1, ' '), {}, 'up', [413, 413]],
    [event, {}, 'down', [503, 429]],
  ];
  for (const [body, headers, redis, statuses] of deliveries) {
    fails = redis === 'down';
    for (const [i, door] of doors.entries()) {
      const [directly, routed] = await Promise.all(
        ['application/json', 'application/vnd.toy+json'].map(async (type) => {
          const answered = await door.post('one', body, { ...headers, 'content-type': type });
          return [answered.status, [...answered.headers].filter(([name]) => name !== 'date'), await answered.text()];
        }),
      );
      expect(directly).toEqual(routed);
      expect(directly?.[0]).toBe(statuses[i]);
    }
  }
  const counts = () => counted.map(([, status]) => status).sort();
  await expect.poll(counts).toEqual(deliveries.flatMap(([, , , statuses]) => [...statuses, ...statuses]).sort());
});

test.each([
  [
    'throws',
    () => {
      throw new Error('zap');
    },
    'zap',
  ],
  ['gives nothing', () => undefined, 'events of the connector must return oneEvent(…) or noEvent(…)'],
  ['gives a list', () => [], 'events of the connector must return oneEvent(…) or noEvent(…)'],
])(
  'where the code of a connector %s the vendor is told to come again, and the source counts it',
  async (_, events, why) => {
    const counted: string[][] = [];
    const door = await openDoor(
      { countRefused: (source, why) => void counted.push([source, why]) },
      { events: z.custom<Source['events']>().parse(events) },
    );
    expect((await door.post('one')).status).toBe(503);
    expect(counted).toEqual([['one', why]]);
    expect(door.told).toMatchObject([{ level: 'error', fields: { source: 'one', why } }]);
  },
);

test('a refusal says what the connector found wrong, and status counts it by that', async () => {
  const counted: string[][] = [];
  const detail = 'The header x-time is missing.';
  const door = await openDoor(
    { countRefused: (source, why) => void counted.push([source, why]) },
    { verify: () => ({ ok: false, why: 'unsigned', detail }) },
  );
  expect(await (await door.post('one')).json()).toEqual({ error: detail });
  expect(counted).toEqual([['one', detail]]);
});
