import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { createVendorApi, judge, type VendorCall } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import {
  FaultQueue,
  type StandinRequest,
  type StandinResponse,
  type StandinServer,
  serve,
} from '../../standins/kit/server.ts';
import { endlessPoints } from '../connectors/memory-points.ts';

const now = new Date('2026-11-21T12:00:00Z');
const asked = { takes: [] as unknown[], pauses: [] as number[], left: [] as unknown[] };
const faults = new FaultQueue();
const seen: StandinRequest[] = [];
let next: StandinResponse = { status: 200, body: { id: 1 } };
let vendor: StandinServer;

const ports: ConnectorPorts = {
  fetch: globalThis.fetch,
  now: () => now,
  random: () => 0.5,
  sleep: async () => undefined,
  log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  budget: {
    takePoints: endlessPoints,
    take: async (...args) => void asked.takes.push(args),
    pause: async (ms) => void asked.pauses.push(ms),
    left: async (quota) => void asked.left.push(quota),
  },
  told: { of: async () => [] },
  vault: { get: async () => undefined, set: async () => undefined, locked: (_name, work) => work() },
};

beforeAll(async () => {
  vendor = await serve(
    (request) => {
      seen.push(request);
      return next;
    },
    { faults },
  );
});
afterAll(() => vendor.close());
beforeEach(() => {
  faults.clear();
  seen.length = 0;
  for (const list of Object.values(asked)) list.length = 0;
  next = { status: 200, body: { id: 1 } };
});

const Thing = z.object({ id: z.number() });
const get: VendorCall = { method: 'GET', path: '/things/1?email=hanna@example.com' };
const secretWords = 'hanna@example.com is furious';

function api(more: { url?: string; timeoutMs?: number } = {}) {
  const { url = vendor.url, timeoutMs } = more;
  return createVendorApi(
    {
      name: 'Toy acme',
      baseUrl: url,
      headers: () => ({ authorization: 'Bearer t' }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      quota: (headers) => {
        const remaining = headers.get('x-left');
        return remaining === null ? undefined : { limit: 100, remaining: Number(remaining), resetMs: 60_000 };
      },
    },
    ports,
  );
}

async function errorOf(work: Promise<unknown>): Promise<CloseloopError> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof CloseloopError)) return expect.fail(`no CloseloopError: ${String(error)}`);
  expect(error.message).toContain('Toy acme: GET /things/1');
  expect(error.message).not.toContain('hanna');
  return error;
}

describe('a call', () => {
  test('it carries the credentials and a JSON body, out of the budget, and gives the answer as its schema has it', async () => {
    const call: VendorCall = {
      method: 'PUT',
      path: '/things/1?a=b',
      body: { x: 'õ' },
      lane: 'l',
      urgency: 'background',
    };
    expect(await api().call(call, Thing)).toEqual({ id: 1 });
    expect(asked.takes).toEqual([['l', 'background']]);
    const { method, path, query, headers, raw } = seen[0] ?? expect.unreachable();
    expect([method, path, query.get('a'), raw.toString()]).toEqual(['PUT', '/things/1', 'b', '{"x":"õ"}']);
    expect(headers).toMatchObject({ authorization: 'Bearer t', 'content-type': 'application/json' });
  });

  test('it says nothing of a body where it has none', async () => {
    await api().call(get, Thing);
    const { headers, raw } = seen[0] ?? expect.unreachable();
    expect(headers).toMatchObject({ accept: 'application/json' });
    expect([headers['content-type'], raw.length]).toEqual([undefined, 0]);
  });

  test('it takes no path that could lead to another host', async () => {
    await expect(api().call({ method: 'GET', path: '.evil.example/' }, Thing)).rejects.toThrow(
      new TypeError('Toy acme: GET .evil.example/: a path begins with a slash'),
    );
    expect([seen, asked.takes]).toEqual([[], []]);
  });

  test('it is not made when the budget refuses', async () => {
    const refusal = new CloseloopError('used up', { kind: 'transient', throttled: true });
    const budget = { ...ports.budget, take: () => Promise.reject(refusal) };
    const starved = createVendorApi({ name: 'x', baseUrl: vendor.url, headers: () => ({}) }, { ...ports, budget });
    await expect(starved.call(get, Thing)).rejects.toBe(refusal);
    expect(seen).toEqual([]);
  });

  test('it hands on what the headers say of the quota', async () => {
    next = { status: 200, headers: { 'x-left': '7' }, body: { id: 1 } };
    await api().call(get, Thing);
    expect(asked.left).toEqual([{ limit: 100, remaining: 7, resetMs: 60_000 }]);
  });

  test('it hands on nothing where the headers say nothing, or nobody reads them', async () => {
    await api().call(get, Thing);
    expect(asked.left).toEqual([]);
    const plain = createVendorApi({ name: 'x', baseUrl: vendor.url, headers: () => ({}) }, ports);
    expect(await plain.call(get, Thing)).toEqual({ id: 1 });
  });

  test('it takes an empty answer where the schema does', async () => {
    next = { status: 204 };
    expect(await api().call(get, z.undefined())).toBeUndefined();
  });

  test('it finds nothing behind a 404, which "call" does not take', async () => {
    for (const body of [undefined, { error: 'none' }]) {
      next = body === undefined ? { status: 404 } : { status: 404, body };
      expect(await api().find(get, Thing)).toBeUndefined();
      const error = await errorOf(api().call(get, Thing));
      expect([error.advice, error.outcome]).toEqual([{ kind: 'permanent' }, 'refused']);
      expect(error.message).toBe('Toy acme: GET /things/1 answered 404: it does not exist.');
    }
  });
});

describe('a refusal', () => {
  const transient = { kind: 'transient' } as const;
  const rows: [answer: StandinResponse, advice: object, outcome: string, pauses: number[]][] = [
    [{ status: 401 }, { kind: 'config' }, 'refused', []],
    [{ status: 403 }, { kind: 'config' }, 'refused', []],
    [{ status: 302, headers: { location: '/other' } }, { kind: 'config', doubtful: true }, 'refused', []],
    [{ status: 404, body: `<html>${secretWords}</html>` }, { kind: 'config', doubtful: true }, 'refused', []],
    [{ status: 422, body: { error: secretWords } }, { kind: 'permanent' }, 'refused', []],
    [{ status: 409 }, transient, 'refused', []],
    [{ status: 408 }, transient, 'unknown', []],
    [{ status: 500, body: { error: secretWords } }, transient, 'unknown', []],
    [{ status: 500, headers: { 'retry-after': '3' } }, { ...transient, retryAfterMs: 3_000 }, 'unknown', []],
    [{ status: 503 }, transient, 'unknown', []],
    [
      { status: 503, headers: { 'retry-after': '30' } },
      { ...transient, retryAfterMs: 30_000, throttled: true },
      'unknown',
      [30_000],
    ],
    [{ status: 429 }, { ...transient, throttled: true }, 'refused', [60_000]],
    [
      { status: 429, headers: { 'retry-after': '0' } },
      { ...transient, retryAfterMs: 0, throttled: true },
      'refused',
      [],
    ],
    [
      { status: 429, headers: { 'retry-after': 'Sat, 21 Nov 2026 12:00:07 GMT' } },
      { ...transient, retryAfterMs: 7_000, throttled: true },
      'refused',
      [7_000],
    ],
    [{ status: 200, body: `<html>${secretWords}</html>` }, transient, 'unknown', []],
    [{ status: 200, body: { id: secretWords } }, { kind: 'permanent' }, 'unknown', []],
    [{ status: 200 }, { kind: 'permanent' }, 'unknown', []],
  ];
  test.each(rows)('%j tells the queue what to do', async (answer, advice, outcome, pauses) => {
    next = answer;
    const error = await errorOf(api().call(get, Thing));
    const { outcome: is } = error;
    expect({ advice: error.advice, outcome: is, pauses: asked.pauses }).toStrictEqual({ advice, outcome, pauses });
    expect(error.message).not.toContain('furious');
  });

  test('it names the place of another shape, not its value', async () => {
    next = { status: 200, body: { id: secretWords } };
    expect((await errorOf(api().call(get, Thing))).message).toBe(
      'Toy acme: GET /things/1 answered in another shape than expected, at id (expected number).',
    );
  });

  test('it names five places of another shape at most', async () => {
    next = { status: 200, body: {} };
    const Wide = z.object(Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, z.number()])));
    const places = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name} (expected number)`).join('; ');
    expect((await errorOf(api().call(get, Wide))).message).toContain(`at ${places}.`);
  });
});

describe('judge', () => {
  const rows: [status: number, isPage: boolean, retryAfterMs: number | undefined, expected: string | undefined][] = [
    [200, false, undefined, undefined],
    [299, false, undefined, undefined],
    [200, true, undefined, 'transient unknown: a page instead of JSON; it is tried again'],
    [300, false, undefined, 'config refused: a redirect, not followed: the address has changed'],
    [399, true, undefined, 'config refused: a redirect, not followed: the address has changed'],
    [400, false, undefined, 'permanent refused: the vendor refuses the call'],
    [401, false, undefined, 'config refused: the credentials are refused: an admin must check and replace them'],
    [403, true, undefined, 'config refused: the credentials lack a right: an admin must grant it'],
    [404, true, undefined, 'config refused: there is no such API at this address: check it'],
    [404, false, undefined, 'permanent refused: the vendor refuses the call'],
    [405, true, undefined, 'permanent refused: the vendor refuses the call'],
    [408, false, undefined, 'transient unknown: the vendor failed; it is tried again'],
    [409, false, undefined, 'transient refused: somebody works on the same thing; it is tried again'],
    [423, false, undefined, 'transient refused: somebody works on the same thing; it is tried again'],
    [429, false, undefined, 'transient throttled refused: the vendor asks us to wait'],
    [429, true, 7, 'transient throttled 7 refused: the vendor asks us to wait'],
    [499, false, undefined, 'permanent refused: the vendor refuses the call'],
    [500, true, undefined, 'transient unknown: the vendor failed; it is tried again'],
    [502, false, 7, 'transient 7 unknown: the vendor failed; it is tried again'],
    [503, false, undefined, 'transient unknown: the vendor failed; it is tried again'],
    [503, false, 7, 'transient throttled 7 unknown: the vendor asks us to wait'],
  ];
  test.each(rows)('it takes %i (page: %s, Retry-After: %s) for "%s"', (status, isPage, retryAfterMs, expected) => {
    const found = judge(status, isPage, retryAfterMs);
    if (found === undefined) return expect(expected).toBeUndefined();
    const { advice, outcome, meaning } = found;
    const told = advice.kind === 'transient' ? [advice.throttled === true && 'throttled', advice.retryAfterMs] : [];
    const words = [advice.kind, ...told, outcome].filter((word) => word !== undefined && word !== false);
    return expect(`${words.join(' ')}: ${meaning}`).toBe(expected);
  });
});

describe('no answer', () => {
  test('it gives up a silent vendor at its deadline: outcome unknown', async () => {
    faults.add({ then: 'work-then-hang' });
    const error = await errorOf(api({ timeoutMs: 50 }).call(get, Thing));
    expect([error.advice, error.outcome]).toEqual([{ kind: 'transient' }, 'unknown']);
    expect(error.message).toBe('Toy acme: GET /things/1: no whole answer within 50 ms; it is tried again.');
    expect(error.cause).toMatchObject({ name: 'TimeoutError' });
  });

  test('it gives up a body that never ends: outcome unknown', async () => {
    const dripping = createServer((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    await new Promise<void>((listening) => dripping.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void dripping.close());
    const address = dripping.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const error = await errorOf(api({ url: `http://127.0.0.1:${port}`, timeoutMs: 150 }).call(get, Thing));
    expect([error.advice, error.outcome]).toEqual([{ kind: 'transient' }, 'unknown']);
    expect(error.message).toContain('no whole answer within 150 ms');
  });

  test('it does not know the outcome when the connection is cut', async () => {
    faults.add({ then: 'cut' });
    const error = await errorOf(api().call(get, Thing));
    expect([error.advice, error.outcome]).toEqual([{ kind: 'transient' }, 'unknown']);
    expect(error.message).toBe('Toy acme: GET /things/1: the connection failed (UND_ERR_SOCKET); it is tried again.');
  });

  test('it knows that nothing was sent where nobody listens', async () => {
    const gone = await serve(() => ({ status: 200 }));
    await gone.close();
    const error = await errorOf(api({ url: gone.url }).call(get, Thing));
    expect([error.advice, error.outcome]).toEqual([{ kind: 'transient' }, 'never-sent']);
  });
});
