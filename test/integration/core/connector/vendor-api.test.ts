import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type HttpCall, notingCalls } from '../../../../core/connector/calls.ts';
import { classifyResponse, type ResponseRules, VendorError } from '../../../../core/connector/classify.ts';
import { staticToken } from '../../../../core/connector/token.ts';
import { createVendorApi, type VendorAccount, type VendorCall } from '../../../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { FaultQueue } from '../../../../standins/kit/faults.ts';
import type { StandinRequest, StandinResponse } from '../../../../standins/kit/message.ts';
import { type StandinServer, serve } from '../../../../standins/kit/server.ts';
import { quietPorts } from '../../../support/contract/quiet-ports.ts';
import { listening } from '../../../support/listening.ts';

const now = new Date('2026-11-21T12:00:00Z');
const asked = { takes: [] as unknown[], pauses: [] as unknown[], left: [] as unknown[] };
const faults = new FaultQueue();
const seen: StandinRequest[] = [];
let next: StandinResponse = { status: 200, body: { id: 1 } };
let vendor: StandinServer;

const ports = quietPorts({
  now: () => now,
  budget: {
    take: async (...args) => void asked.takes.push(args),
    pause: async (ms, endpoint) => void asked.pauses.push(endpoint === undefined ? ms : [ms, endpoint]),
    reportRemaining: async (quota) => void asked.left.push(quota),
  },
});

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

const toy = (url: string): VendorAccount => ({
  name: 'Toy acme',
  baseUrl: url,
  credentials: staticToken('t'),
  rateLimits: (headers) => {
    const remaining = headers.get('x-left');
    return remaining === null ? [] : [{ limit: 100, remaining: Number(remaining), resetMs: 60_000 }];
  },
});

const api = ({ url = vendor.url, ...more }: Partial<VendorAccount> & { url?: string } = {}) =>
  createVendorApi({ ...toy(url), ...more }, ports);

async function errorOf(work: Promise<unknown>): Promise<CloseloopError> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof CloseloopError)) return expect.fail(`no CloseloopError: ${String(error)}`);
  expect(error.message).toContain('Toy acme: GET /things/{id}');
  expect(error.message).not.toContain('hanna');
  return error;
}

describe('a call', () => {
  test('it carries the credentials and a JSON body, out of the budget, and gives the answer as its schema has it', async () => {
    const call: VendorCall = {
      method: 'PUT',
      path: '/things/1?a=b',
      body: { x: 'õ' },
      endpoint: 'l',
      urgency: 'background',
    };
    expect(await api().call(call, Thing)).toEqual({ id: 1 });
    expect(asked.takes).toEqual([['l', 'background']]);
    const { method, path, query, headers, raw } = seen[0] ?? expect.unreachable();
    expect([method, path, query.get('a'), raw.toString()]).toEqual(['PUT', '/things/1', 'b', '{"x":"õ"}']);
    expect(headers).toMatchObject({ authorization: 'Bearer t', 'content-type': 'application/json' });
  });

  test('it is noted with whom it calls, what for and how that ended, each try by itself, and nobody’s id', async () => {
    const noted: string[] = [];
    const note = ({ to, operation, end, ms, tries }: HttpCall) => {
      expect(ms).toBeGreaterThanOrEqual(0);
      noted.push(`${to}: ${operation}: ${end}, ${tries}`);
    };
    faults.add({ status: 401 });
    const credentials = { current: async () => 'old', instead: async () => 'new' };
    await notingCalls({ note }, async () => {
      await api({ credentials }).call(get, Thing);
      await api().find({ method: 'PUT', path: '/things/12.json', body: { secret: secretWords } }, Thing);
      await api().find({ method: 'GET', path: '/people/hanna%40example.com/things' }, Thing);
      await api().find({ method: 'GET', path: '/v3/people/anna.kask/AB12' }, Thing);
      await api().call({ method: 'POST', path: '/', place: 'an event' }, Thing);
      await api({ url: 'http://127.0.0.1:9' })
        .call(get, Thing)
        .catch(() => undefined);
    });
    expect(noted).toEqual([
      'Toy acme: GET /things/{id}: 401, 1',
      'Toy acme: GET /things/{id}: 200, 1',
      'Toy acme: PUT /things/{id}.json: 200, 1',
      'Toy acme: GET /people/{id}/things: 200, 1',
      'Toy acme: GET /v3/people/{id}/{id}: 200, 1',
      'Toy acme: an event: 200, 1',
      'Toy acme: GET /things/{id}: never-sent, 1',
    ]);
  });

  test('it says nothing of a body where it has none', async () => {
    await api().call(get, Thing);
    const { headers, raw } = seen[0] ?? expect.unreachable();
    expect(headers).toMatchObject({ accept: 'application/json' });
    expect([headers['content-type'], raw.length]).toEqual([undefined, 0]);
  });

  test('it takes no path that could lead to another host', async () => {
    await expect(api().call({ method: 'GET', path: '.evil.example/' }, Thing)).rejects.toThrow(
      new TypeError('Toy acme: GET {id}/: a path begins with a slash'),
    );
    expect([seen, asked.takes]).toEqual([[], []]);
  });

  test.each(['/things/7/../../users/1', '/things/%2e%2E/users', '/things/.', '/search?query=a#b'])(
    'it takes no path that an id could have led elsewhere: %s',
    async (path) => {
      await expect(api().call({ method: 'GET', path }, Thing)).rejects.toThrow(TypeError);
      expect([seen, asked.takes]).toEqual([[], []]);
    },
  );

  test('it is not made when the budget refuses', async () => {
    const refusal = new CloseloopError('used up', { kind: 'transient', throttled: true });
    const budget = { ...ports.budget, take: () => Promise.reject(refusal) };
    const starved = createVendorApi(toy(vendor.url), { ...ports, budget });
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
    const plain = createVendorApi({ name: 'x', baseUrl: vendor.url }, ports);
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
      expect(error.message).toBe('Toy acme: GET /things/{id}: it does not exist (404); nothing is left to do.');
    }
  });
});

describe('a refusal', () => {
  const transient = { kind: 'transient' } as const;
  const rows: [answer: StandinResponse, advice: object, outcome: string, pauses: number[]][] = [
    [{ status: 302, headers: { location: '/other' } }, { kind: 'config', doubtful: true }, 'refused', []],
    [{ status: 404, body: `<html>${secretWords}</html>` }, { kind: 'config', doubtful: true }, 'refused', []],
    [{ status: 422, body: { error: secretWords } }, { kind: 'permanent' }, 'refused', []],
    [{ status: 500, body: { error: secretWords } }, transient, 'unknown', []],
    [{ status: 500, headers: { 'retry-after': '3' } }, { ...transient, retryAfterMs: 3_000 }, 'unknown', []],
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
  // What each status means: classifyResponse, below.
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
      'Toy acme: GET /things/{id}: the answer has another shape than documented, at id (expected number); report it as a bug of this connector.',
    );
  });
});

describe('a token', () => {
  test('it is replaced once when the vendor refuses it', async () => {
    const refused: string[] = [];
    const credentials = {
      current: async () => 'old',
      instead: async (token: string) => {
        refused.push(token);
        return 'new';
      },
    };
    const tokens = () => seen.map(({ headers }) => headers.authorization);
    faults.add({ status: 401 });
    expect(await api({ credentials }).call(get, Thing)).toEqual({ id: 1 });
    expect([refused, tokens(), asked.takes.length]).toEqual([['old'], ['Bearer new'], 2]);
    faults.add({ status: 401, times: 2 });
    expect((await errorOf(api({ credentials }).call(get, Thing))).advice).toEqual({ kind: 'config' });
    expect(refused).toEqual(['old', 'old']);
  });

  test('it goes where the vendor wants it, and what the call itself says goes with it', async () => {
    const authorize = (token: string) => ({ 'x-key': token });
    await api({ authorize }).call({ ...get, method: 'POST', headers: { 'x-version': '2' }, form: { a: 'b c' } }, Thing);
    const { headers, raw } = seen[0] ?? expect.unreachable();
    expect(headers).toMatchObject({ 'x-key': 't', 'x-version': '2' });
    expect([headers.authorization, headers['content-type'], raw.toString()]).toEqual([
      undefined,
      'application/x-www-form-urlencoded',
      'a=b+c',
    ]);
  });
});

describe('what is peculiar to a vendor', () => {
  test('it may depend on the path that was called', async () => {
    next = { status: 403, body: {} };
    const rules: ResponseRules = {
      meaningOf: (_, path) => ({ kind: 'config', problem: 'no right', remedy: `ask for ${path.split('/')[1]}` }),
    };
    const { call } = createVendorApi({ ...toy(vendor.url), rules }, ports);
    await expect(call(get, Thing)).rejects.toMatchObject({ remedy: 'ask for things' });
  });

  test('a limit that no header tells is the budget’s before each call of its endpoint, and of no other', async () => {
    const order: unknown[] = [];
    const budget = {
      ...ports.budget,
      take: async (endpoint?: string) => void order.push(['take', endpoint]),
      reportRemaining: async (quota: object, name?: string) => void order.push([quota, name]),
    };
    const unreportedLimits = { search: { limit: 5, remaining: 5, resetMs: 1000 } };
    const { call } = createVendorApi({ ...toy(vendor.url), unreportedLimits }, { ...ports, budget });
    await call({ ...get, endpoint: 'search' }, Thing);
    await call({ ...get, endpoint: 'other' }, Thing);
    expect(order).toEqual([
      [unreportedLimits.search, 'search'],
      ['take', 'search'],
      ['take', 'other'],
    ]);
  });

  const rules: ResponseRules = {
    codeOf: (json) => z.object({ code: z.string() }).safeParse(json).data?.code,
    meaningOf: ({ json }) =>
      z.object({ errors: z.array(z.unknown()).min(1) }).safeParse(json).success
        ? { kind: 'permanent', problem: 'errors in a 200', remedy: 'look' }
        : undefined,
    table: {
      REQUEST_LIMIT: { kind: 'wait', ms: 9_000, pauses: 'endpoint', problem: 'used up', remedy: 'wait' },
      404: { kind: 'config', problem: 'no such shop', remedy: 'correct the address' },
      '5xx': { kind: 'transient', pauseMs: 5_000, problem: 'the shop fails', remedy: 'wait' },
      shape: { kind: 'transient', problem: 'odd', remedy: 'wait' },
    },
  };
  const rows: [answer: StandinResponse, advice: object, pauses: unknown[], message: RegExp][] = [
    [
      { status: 403, body: { code: 'REQUEST_LIMIT' } },
      { kind: 'transient', throttled: true, retryAfterMs: 9_000 },
      [[9_000, 'search']],
      /: used up \(403, REQUEST_LIMIT\); wait\.$/,
    ],
    [{ status: 403, body: { code: 'OTHER' } }, { kind: 'config' }, [], /lack a right \(403, OTHER\)/],
    [{ status: 200, body: { code: 'REQUEST_LIMIT' } }, { kind: 'transient' }, [[9_000, 'search']], /: used up/],
    [{ status: 200, body: { errors: [1] } }, { kind: 'permanent' }, [], /: errors in a 200; look\.$/],
    [{ status: 404, body: {} }, { kind: 'config' }, [], /no such shop \(404\); correct/],
    [{ status: 404, body: '<html>' }, { kind: 'config', doubtful: true }, [], /no such shop \(404, a page\)/],
    [{ status: 500 }, { kind: 'transient', retryAfterMs: 5_000 }, [5_000], /the shop fails \(500\)/],
    [
      { status: 503, headers: { 'retry-after': '7' } },
      { kind: 'transient', retryAfterMs: 7_000 },
      [7_000],
      /the shop fails \(503\)/,
    ],
    [{ status: 200, body: { id: 'x' } }, { kind: 'transient' }, [], /: odd, at id \(expected number\); wait\.$/],
  ];
  test.each(rows)("%j is understood by the vendor's rules", async (answer, advice, pauses, message) => {
    next = answer;
    const error = await errorOf(api({ rules }).call({ ...get, endpoint: 'search' }, Thing));
    expect(error.advice).toMatchObject(advice);
    expect([asked.pauses, error.message]).toEqual([pauses, expect.stringMatching(message)]);
  });

  test('it tells its own reason for no answer, and the name of the call for its support', async () => {
    const gone = await serve(() => ({ status: 200 }));
    await gone.close();
    const unanswered = () => ({ kind: 'config', problem: 'private', remedy: 'allow it' }) as const;
    const error = await errorOf(api({ url: gone.url, unanswered }).call(get, Thing));
    expect([error.advice, error.outcome]).toEqual([{ kind: 'config' }, 'never-sent']);
    next = { status: 422, headers: { 'x-request': 'r7' } };
    expect((await errorOf(api({ requestIdHeader: 'x-request' }).call(get, Thing))).reference).toBe('r7');
  });
});

describe('classifyResponse', () => {
  const rows: [status: number, text: string, later: string | undefined, expected: string | undefined][] = [
    [200, '{}', undefined, undefined],
    [299, '', undefined, undefined],
    [200, 'page', undefined, 'transient unknown: a page instead of an answer'],
    [300, '{}', undefined, 'config doubtful refused: a redirect, which is not followed (300)'],
    [399, 'page', undefined, 'config doubtful refused: a redirect, which is not followed (399, a page)'],
    [400, '{}', undefined, 'permanent refused: the vendor refuses the call (400)'],
    [401, '{}', undefined, 'config refused: the credentials are refused (401)'],
    [403, 'page', undefined, 'config doubtful refused: the credentials lack a right (403, a page)'],
    [404, 'page', undefined, 'config doubtful refused: there is no such API at this address (404, a page)'],
    [404, '{}', undefined, 'permanent refused: it does not exist (404)'],
    [404, '', undefined, 'permanent refused: it does not exist (404)'],
    [405, 'page', undefined, 'permanent doubtful refused: the vendor refuses the call (405, a page)'],
    [408, '', undefined, 'transient unknown: the vendor gave up on the call (408)'],
    [409, '{}', undefined, 'transient refused: somebody works on the same thing (409)'],
    [423, '{}', undefined, 'transient refused: somebody works on the same thing (423)'],
    [429, '{}', undefined, 'transient throttled refused: the vendor asks us to wait (429) pauses 60000'],
    [429, 'page', '7', 'transient throttled 7000 refused: the vendor asks us to wait (429, a page) pauses 7000'],
    // Taken at its word, every waiting call would be made at once, again and again.
    [429, '{}', '0', 'transient throttled refused: the vendor asks us to wait (429) pauses 60000'],
    [499, '{}', undefined, 'permanent refused: the vendor refuses the call (499)'],
    [500, 'page', undefined, 'transient unknown: the vendor fails (500, a page)'],
    [502, '', '7', 'transient 7000 unknown: the vendor fails (502)'],
    [503, '', undefined, 'transient unknown: the vendor fails (503)'],
    [503, '', '7', 'transient throttled 7000 unknown: the vendor asks us to wait (503) pauses 7000'],
  ];
  test.each(rows)('it takes %i %s (Retry-After: %s) for "%s"', (status, text, later, expected) => {
    const headers = new Headers(later === undefined ? {} : { 'retry-after': later });
    const json = text === '{}' ? {} : undefined;
    const found = classifyResponse({ status, ok: status < 300, headers, text, json }, now);
    if (found === undefined) return expect(expected).toBeUndefined();
    const { advice, outcome, problem, pause } = found;
    const told =
      advice.kind === 'transient'
        ? [advice.throttled === true && 'throttled', advice.retryAfterMs]
        : [advice.doubtful === true && 'doubtful'];
    const words = [advice.kind, ...told, outcome].filter((word) => word !== undefined && word !== false);
    return expect(`${words.join(' ')}: ${problem}${pause ? ` pauses ${pause.ms}` : ''}`).toBe(expected);
  });

  test("only a vendor's own word says that something is gone", () => {
    const errorFor = (text: string, json: unknown) => {
      const found = classifyResponse({ status: 404, ok: false, headers: new Headers(), text, json }, now);
      return found && new VendorError('x', found).isGone;
    };
    expect([errorFor('{}', {}), errorFor('', undefined), errorFor('page', undefined)]).toEqual([true, true, false]);
  });
});

describe('no answer', () => {
  /** True of a command, which tries nothing again, and of the loop, which does. */
  const unreached = () => `check that ${vendor.url} can be reached; a later attempt may succeed`;

  test('it gives up a silent vendor at its deadline: outcome unknown', async () => {
    faults.add({ then: 'work-then-hang' });
    const error = await errorOf(api({ timeoutMs: 50 }).call(get, Thing));
    expect([error.advice, error.outcome]).toEqual([{ kind: 'transient' }, 'unknown']);
    expect(error.message).toBe(`Toy acme: GET /things/{id}: no whole answer within 50 ms; ${unreached()}.`);
    expect(error.cause).toMatchObject({ name: 'TimeoutError' });
  });

  test('it gives up a body that never ends: outcome unknown', async () => {
    const dripping = createServer((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const port = await listening(dripping);
    const error = await errorOf(api({ url: `http://127.0.0.1:${port}`, timeoutMs: 150 }).call(get, Thing));
    expect([error.advice, error.outcome]).toEqual([{ kind: 'transient' }, 'unknown']);
    expect(error.message).toContain('no whole answer within 150 ms');
  });

  test('it does not know the outcome when the connection is cut', async () => {
    faults.add({ then: 'cut' });
    const error = await errorOf(api().call(get, Thing));
    expect([error.advice, error.outcome]).toEqual([{ kind: 'transient' }, 'unknown']);
    expect(error.message).toBe(`Toy acme: GET /things/{id}: the connection failed (UND_ERR_SOCKET); ${unreached()}.`);
  });

  test('it knows that nothing was sent where nobody listens', async () => {
    const gone = await serve(() => ({ status: 200 }));
    await gone.close();
    const error = await errorOf(api({ url: gone.url }).call(get, Thing));
    expect([error.advice, error.outcome]).toEqual([{ kind: 'transient' }, 'never-sent']);
  });
});
