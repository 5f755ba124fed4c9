import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ZendeskApi, zendeskApi } from '../../../../connectors/zendesk/api.ts';
import { settings } from '../../../../connectors/zendesk/settings.ts';
import type { ConnectorPorts } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { type Recorded, testPorts } from '../../../support/connectors/zendesk/ports.ts';
import {
  answering,
  type ScriptedServer,
  type Seen,
  type Step,
} from '../../../support/connectors/zendesk/scripted-server.ts';

const open: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const token = (access_token: string, expires_in: number | null = 7200): Step => ({
  status: 200,
  body: { access_token, token_type: 'bearer', scope: 'read tickets:write', expires_in },
});

/** A client of a server that hands out tokens t1, t2 … and answers everything else with `decide`. */
async function connected(
  decide: (request: Seen, index: number) => Step,
  overrides: Partial<ConnectorPorts> = {},
  credentials: object = { clientId: 'id', clientSecret: 'client-secret' },
  tokens: (issued: number) => Step = (issued) => token(`t${issued}`),
): Promise<{ api: ZendeskApi; server: ScriptedServer; seen: Recorded; calls: () => string[] }> {
  let issued = 0;
  let calls = 0;
  const server = await answering((request) => {
    if (request.path === '/oauth/tokens') return tokens(++issued);
    return decide(request, calls++);
  });
  open.push(server);
  const { ports, seen } = testPorts(overrides);
  const parsed = settings.parse({ subdomain: 'acme', webhookSecrets: ['s'], baseUrl: server.url, ...credentials });
  return {
    api: zendeskApi(parsed, ports),
    server,
    seen,
    calls: () =>
      server.seen.map(({ method, path, headers }) => `${method} ${path} ${headers.authorization ?? ''}`.trim()),
  };
}

const anything = z.unknown();
const path = '/api/v2/tickets/show_many.json?ids=1';
const fine: Step = { status: 200, body: { ok: true } };

async function errorOf(work: Promise<unknown>): Promise<CloseloopError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CloseloopError)) throw new Error(`expected a CloseloopError, got ${String(error)}`);
  return error;
}

describe('a token', () => {
  test('is fetched once for all calls that come together, and used by both kinds of call', async () => {
    const { api, server, calls } = await connected(() => ({ status: 200, body: { ticket_fields: [] } }));
    await Promise.all([api.get(path, anything), api.get(path, anything), api.listTicketFields(anything)]);
    expect(calls().sort()).toEqual([
      'GET /api/v2/ticket_fields.json Bearer t1',
      `GET ${path} Bearer t1`,
      `GET ${path} Bearer t1`,
      'POST /oauth/tokens',
    ]);
    expect(server.seen.find((one) => one.method === 'POST')?.body).toEqual({
      grant_type: 'client_credentials',
      client_id: 'id',
      client_secret: 'client-secret',
      scope: 'read tickets:write',
      expires_in: 7200,
    });
  });

  const lives: [name: string, expiresIn: number | null, seconds: number, tokens: number][] = [
    ['is kept until three quarters of its life are over', 7200, 5399, 1],
    ['is renewed then', 7200, 5400, 2],
    ['is taken to live half an hour when Zendesk does not say', null, 1350, 2],
  ];
  test.each(lives)('%s', async (_name, expiresIn, seconds, tokens) => {
    let now = 0;
    const { api, calls } = await connected(
      () => fine,
      { now: () => new Date(now) },
      undefined,
      (issued) => token(`t${issued}`, expiresIn),
    );
    await api.get(path, anything);
    now = seconds * 1000;
    await api.get(path, anything);
    expect(calls().filter((call) => call === 'POST /oauth/tokens')).toHaveLength(tokens);
  });

  test('that is refused again is a configuration error that says who must do what', async () => {
    const { api, server } = await connected(() => ({ status: 401, body: { error: 'invalid_token' } }));
    const error = await errorOf(api.get(path, anything));
    expect(error.advice).toEqual({ kind: 'config' });
    expect(error.message).toContain('an admin must check that the owner of the OAuth client');
    expect(server.seen).toHaveLength(4);
  });

  test('that Zendesk does not issue is a configuration error about the client', async () => {
    const { api } = await connected(
      () => fine,
      {},
      undefined,
      () => ({ status: 401, body: { error: 'invalid_client' } }),
    );
    const error = await errorOf(api.get(path, anything));
    expect(error.advice).toEqual({ kind: 'config' });
    expect(error.message).toContain('OAuth clients');
    expect(error.message).not.toContain('client-secret');
  });

  test('that there is no help desk for names the setting that is wrong', async () => {
    const { api } = await connected(
      () => fine,
      {},
      undefined,
      () => ({ status: 404, body: '<h1>No help desk at acme.zendesk.com</h1>' }),
    );
    const error = await errorOf(api.get(path, anything));
    expect(error.advice).toEqual({ kind: 'config', doubtful: true });
    expect(error.message).toMatch(/no help desk at this address.*check `subdomain`/);
  });

  test('that Zendesk does not issue with this scope names the scope', async () => {
    const { api } = await connected(
      () => fine,
      {},
      { clientId: 'id', clientSecret: 'client-secret', scope: 'read tickets:write' },
      () => ({ status: 400, body: { error: 'invalid_scope', error_description: 'The requested scope is invalid' } }),
    );
    const error = await errorOf(api.get(path, anything));
    expect(error.advice).toEqual({ kind: 'config' });
    expect(error.message).toMatch(/may not have the scope "read tickets:write"/);
  });

  test('that a page refuses is doubted, as a proxy may have said so', async () => {
    const { api } = await connected(
      () => fine,
      {},
      undefined,
      () => ({ status: 403, body: '<h1>Forbidden</h1>' }),
    );
    expect((await errorOf(api.get(path, anything))).advice).toEqual({ kind: 'config', doubtful: true });
  });

  test('of the legacy kind is sent as it is, and never replaced', async () => {
    const legacy = { email: 'me@example.com', apiToken: 'abc' };
    const { api, calls } = await connected(
      (_, index) => (index < 2 ? { status: 200, body: { ticket_fields: [] } } : { status: 401 }),
      {},
      legacy,
    );
    await api.get(path, anything);
    await api.listTicketFields(anything);
    expect((await errorOf(api.get(path, anything))).advice).toEqual({ kind: 'config' });
    const basic = `Basic ${Buffer.from('me@example.com/token:abc').toString('base64')}`;
    expect(calls()).toEqual([
      `GET ${path} ${basic}`,
      `GET /api/v2/ticket_fields.json ${basic}`,
      `GET ${path} ${basic}`,
    ]);
  });
});

describe('a failed call', () => {
  const later = { 'retry-after': '30' };
  const rows: [name: string, step: Step, expected: Partial<CloseloopError>, says: string][] = [
    [
      '400 is our bug',
      { status: 400, body: { error: { title: 'Invalid attribute', message: 'x' } } },
      { advice: { kind: 'permanent' }, outcome: 'refused' },
      'a bug in closeloop',
    ],
    [
      '403 needs an admin',
      { status: 403, body: { error: { title: 'Forbidden', message: 'x' } } },
      { advice: { kind: 'config' } },
      'the credentials lack a right (403, Forbidden)',
    ],
    [
      '404 is permanent',
      { status: 404, body: { error: 'RecordNotFound', description: 'Not found' } },
      { advice: { kind: 'permanent' } },
      'it does not exist any more (404, RecordNotFound)',
    ],
    [
      '404 of a whole host is a wrong subdomain',
      { status: 404, body: '<h1>No help desk</h1>' },
      { advice: { kind: 'config' } },
      'check `subdomain`',
    ],
    [
      '409 is tried again',
      { status: 409, body: { error: 'UpdateConflict' } },
      { advice: { kind: 'transient' }, outcome: 'refused' },
      'at the same time',
    ],
    [
      '422 is permanent',
      { status: 422, body: { error: 'RecordInvalid', description: 'Mrs Smith' } },
      { advice: { kind: 'permanent' } },
      'Zendesk refuses this for good (422, RecordInvalid)',
    ],
    [
      '429 spends no attempt',
      { status: 429, headers: later, body: 'Number of allowed API requests' },
      { advice: { kind: 'transient', retryAfterMs: 30_000, throttled: true }, outcome: 'refused' },
      'to wait',
    ],
    [
      'too many jobs is a 429 by another name',
      { status: 422, headers: later, body: { error: 'TooManyJobs' } },
      { advice: { kind: 'transient', retryAfterMs: 30_000, throttled: true } },
      'TooManyJobs',
    ],
    [
      'a redirect means the account has moved',
      { status: 301, headers: { location: 'https://other.zendesk.com/' } },
      { advice: { kind: 'config' } },
      'has moved',
    ],
    [
      'an answer of another shape is permanent',
      { status: 200, body: { tickets: 'none' } },
      { advice: { kind: 'permanent' }, outcome: 'unknown' },
      "differs from Zendesk's documentation, at tickets",
    ],
  ];
  test.each(rows)('%s', async (_name, step, expected, says) => {
    const { api } = await connected(() => step);
    const error = await errorOf(api.send('PUT', '/api/v2/x.json', {}, z.object({ tickets: z.array(z.unknown()) })));
    expect(error).toMatchObject(expected);
    expect(error.message).toContain('Zendesk acme: PUT /api/v2/x.json');
    expect(error.message).toContain(says);
    expect(error.message + String(error.cause)).not.toContain('Smith');
  });

  const forbidden: [path: string, says: string][] = [
    ['/api/v2/incremental/tickets/cursor.json', 'make the owner of the OAuth client (or of the API token) an admin'],
    ['/api/v2/users/update_many.json', 'the scope "users:write"'],
    ['/api/v2/custom_objects/feedback/records', 'the scope "write"'],
    ['/api/v2/tickets/show_many.json', 'the scopes "read tickets:write"'],
  ];
  test.each(forbidden)('403 of %s says who must do what', async (where, says) => {
    const { api } = await connected(() => ({ status: 403, body: { error: 'Forbidden' } }));
    const error = await errorOf(api.get(where, anything));
    expect(error.advice).toEqual({ kind: 'config' });
    expect(error.message).toContain('an admin must');
    expect(error.message).toContain(says);
  });

  test('keeps the request id, for Zendesk’s support, beside the message: equal faults read alike (audit 24)', async () => {
    const { api } = await connected((_, index) => ({ status: 500, headers: { 'x-request-id': `abc-${index}` } }));
    const [one, other] = [await errorOf(api.get(path, anything)), await errorOf(api.get(path, anything))];
    expect(one.reference).toMatch(/^abc-/);
    expect(other.reference).not.toBe(one.reference);
    expect(other.message).toBe(one.message);
    expect(one.message).not.toContain('abc');
  });
});

describe('the budget', () => {
  test('is asked before every call, the token’s and a repeated one included', async () => {
    const { api, seen } = await connected((_, index) => (index === 0 ? { status: 401 } : fine));
    await api.send('PUT', '/api/v2/x.json', {}, anything, { endpoint: 'ticket-updates' });
    expect(seen.taken).toEqual([undefined, 'ticket-updates', undefined, 'ticket-updates']);
  });

  const jobs = (remaining: number): Record<string, string> => ({
    'zendesk-ratelimit-inflight-jobs': `total=30; remaining=${remaining}; resets=60`,
  });
  const account = (remaining: number): Record<string, string> => ({
    'ratelimit-limit': '700',
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': '17',
  });
  const rows: [name: string, status: number, headers: Record<string, string>, expected: object[]][] = [
    ['is not paused by a used-up limit that refused nothing', 200, { ...account(0), ...jobs(0) }, []],
    [
      'is paused for Retry-After on 429',
      429,
      { ...account(9), 'retry-after': '93' },
      [{ ms: 93_000, endpoint: undefined }],
    ],
    [
      'pauses only the endpoint on its own 429',
      429,
      { ...account(9), ...jobs(0), 'retry-after': '12' },
      [{ ms: 12_000, endpoint: 'ticket-updates' }],
    ],
    [
      'is paused whole when both are used up',
      429,
      { ...account(0), ...jobs(0) },
      [{ ms: 60_000, endpoint: undefined }],
    ],
    ['is paused until the reset on a 429 without Retry-After', 429, account(0), [{ ms: 17_000, endpoint: undefined }]],
  ];
  test.each(rows)('%s', async (_name, status, headers, expected) => {
    const { api, seen } = await connected(() => ({ status, headers, body: status === 200 ? {} : 'text' }));
    await api.send('PUT', '/api/v2/x.json', {}, anything, { endpoint: 'ticket-updates' }).catch(() => {});
    expect(seen.paused).toEqual(expected);
  });

  const updates = (remaining: number, resets = 60): Record<string, string> => ({
    'zendesk-ratelimit-tickets-update': `total=100; remaining=${remaining}; resets=${resets}`,
  });
  const quotas: [name: string, headers: Record<string, string>, expected: object[]][] = [
    ['of the account', account(350), [{ limit: 700, remaining: 350, resetMs: 17_000 }]],
    [
      'in the older headers, a minute where no reset is named',
      { 'x-rate-limit': '400', 'x-rate-limit-remaining': '0' },
      [{ limit: 400, remaining: 0, resetMs: 60_000 }],
    ],
    [
      'of the endpoint, for itself',
      { ...account(9), ...updates(42) },
      [
        { limit: 700, remaining: 9, resetMs: 17_000 },
        { limit: 100, remaining: 42, resetMs: 60_000, name: 'ticket-updates' },
      ],
    ],
    [
      'of the endpoint, and not of one ticket',
      { ...updates(42), 'zendesk-ratelimit-tickets-update-per-ticket': 'total=30; remaining=2; resets=600' },
      [{ limit: 100, remaining: 42, resetMs: 60_000, name: 'ticket-updates' }],
    ],
    ['of jobs only when there is none', jobs(1), []],
    ['of jobs that are used up', jobs(0), [{ limit: 30, remaining: 0, resetMs: 60_000, name: 'ticket-updates' }]],
    ['and nothing where the headers are strange', { 'ratelimit-remaining': 'many' }, []],
  ];
  test.each(quotas)('is told what is left %s', async (_name, headers, expected) => {
    const { api, seen } = await connected(() => ({ status: 200, headers, body: {} }));
    await api.send('PUT', '/api/v2/x.json', {}, anything, { endpoint: 'ticket-updates' });
    expect(seen.left).toEqual(expected);
  });

  test('is told for which purpose and how far apart', async () => {
    const { api, seen } = await connected(() => fine);
    await api.get('/api/v2/incremental/x.json', anything, { endpoint: 'incremental', urgency: 'background' });
    await api.send('PUT', '/api/v2/users/1.json', {}, anything, { endpoint: 'user-updates' });
    expect(seen.background).toEqual(['incremental']);
    expect(seen.left).toEqual([{ limit: 1, remaining: 1, resetMs: 1000, name: 'user-updates' }]);
  });

  test('learns from the answers of zendesk-node-api as well', async () => {
    const { api, seen } = await connected(() => ({ status: 429, headers: { 'retry-after': '93' }, body: 'slow down' }));
    expect((await errorOf(api.listTicketFields(anything))).advice).toEqual({
      kind: 'transient',
      retryAfterMs: 93_000,
      throttled: true,
    });
    expect(seen.paused).toEqual([{ ms: 93_000, endpoint: undefined }]);
  });
});

test('keys that Zendesk drops without an error are logged', async () => {
  const { api, seen } = await connected(() => ({
    ...fine,
    headers: { 'x-zendesk-api-warn': 'Removed restricted keys ["x","carl@example.com"]' },
  }));
  await api.get(path, anything);
  expect(seen.logged.join()).toContain('dropped keys');
  expect(seen.logged.join()).toContain('"dropped":["x"]');
});
