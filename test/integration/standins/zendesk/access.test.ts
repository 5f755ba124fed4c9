import { describe, expect, test } from 'vitest';
import { agent, customer, grant, openAccount, request, useAccount } from '../../../support/standins/zendesk/account.ts';

const account = useAccount();

const ticket = '/api/v2/tickets/41960';

describe('tokens', () => {
  const refusals: [name: string, body: Record<string, unknown>, status: number, error: string][] = [
    ['refuses a wrong secret', grant('read', { client_secret: 'x' }), 401, 'invalid_client'],
    ['refuses another grant', grant('read', { grant_type: 'password' }), 400, 'unsupported_grant_type'],
    ['refuses an unknown scope', grant('ticket_fields:read'), 400, 'invalid_scope'],
    ['refuses a lifetime under five minutes', grant('read', { expires_in: 299 }), 400, 'invalid_request'],
    ['refuses a lifetime over two days', grant('read', { expires_in: 172_801 }), 400, 'invalid_request'],
  ];
  test.each(refusals)('it %s', async (_name, body, status, error) => {
    const reply = await request(`${account.url}/oauth/tokens`, 'POST', body);
    expect([reply.status, reply.json.error]).toEqual([status, error]);
  });

  test('it answers as documented and gives no refresh token', async () => {
    const { status, json } = await request(
      `${account.url}/oauth/tokens`,
      'POST',
      grant('read tickets:write', { expires_in: 7200 }),
    );
    expect([status, json]).toEqual([
      200,
      { access_token: expect.any(String), token_type: 'bearer', scope: 'read tickets:write', expires_in: 7200 },
    ]);
  });

  const scopes: [name: string, scope: unknown, method: string, path: string, status: number][] = [
    ['lets a narrow scope read its resource', 'tickets:read', 'GET', ticket, 200],
    ['does not let tickets:read read users', 'tickets:read', 'GET', `/api/v2/users/${customer}`, 403],
    [
      'does not let tickets:read read ticket fields, which have no scope of their own',
      'tickets:read',
      'GET',
      '/api/v2/ticket_fields',
      403,
    ],
    ['does not let read write', 'read', 'PUT', ticket, 403],
    ['lets tickets:write write tickets', 'tickets:write', 'PUT', ticket, 200],
    ['forbids everything to a token whose scope was an array', ['read', 'write'], 'GET', ticket, 403],
  ];
  test.each(scopes)('it %s', async (_name, scope, method, path, status) => {
    const { json } = await request(`${account.url}/oauth/tokens`, 'POST', grant(scope));
    const headers = { authorization: `Bearer ${json.access_token}` };
    const reply = await request(
      `${account.url}${path}`,
      method,
      method === 'PUT' ? { ticket: {} } : undefined,
      headers,
    );
    expect(reply.status).toBe(status);
  });

  test('it refuses an expired token with invalid_token', async () => {
    account.clock.now += 1_800_000;
    const reply = await account.call('GET', ticket);
    expect([reply.status, reply.json.error]).toEqual([401, 'invalid_token']);
  });

  test('it refuses all tokens after they were revoked', async () => {
    account.standin.revokeTokens();
    expect((await account.call('GET', ticket)).status).toBe(401);
  });

  const basic = (text: string): Record<string, string> => ({
    authorization: `Basic ${Buffer.from(text).toString('base64')}`,
  });
  const legacy: [name: string, headers: Record<string, string>, status: number][] = [
    ['takes an API token of an agent', basic('ann@example.com/token:zendesk-api-token'), 200],
    ['refuses an API token of a customer', basic('cora@example.com/token:zendesk-api-token'), 401],
    ['refuses email and password', basic('ann@example.com:zendesk-api-token'), 401],
    ['refuses a caller without credentials', { authorization: '' }, 401],
  ];
  test.each(legacy)('it %s', async (_name, headers, status) => {
    const reply = await account.call('GET', ticket, undefined, headers);
    expect(reply.status).toBe(status);
    if (status === 401) expect(reply.json).toEqual({ error: "Couldn't authenticate you" });
  });

  test('it refuses API tokens once they are switched off', async () => {
    account.standin.changeSettings({ legacyTokens: false });
    expect(
      (await account.call('GET', ticket, undefined, basic('ann@example.com/token:zendesk-api-token'))).status,
    ).toBe(401);
  });
});

describe('limits', () => {
  test('it answers 429 as text/html with Retry-After, and serves again after that time', async () => {
    const small = await openAccount({ now: account.now, rateLimit: { perMinute: 2 } });
    expect((await small.call('GET', ticket)).headers.get('x-rate-limit-remaining')).toBe('1');
    account.clock.now += 20_000;
    await small.call('GET', ticket);
    const refused = await small.call('GET', ticket);
    expect([
      refused.status,
      refused.headers.get('retry-after'),
      refused.headers.get('content-type'),
      refused.json,
    ]).toEqual([429, '40', 'text/html; charset=utf-8', undefined]);
    account.clock.now += 40_000;
    expect((await small.call('GET', ticket)).status).toBe(200);
    await small.close();
  });

  test('it limits ticket updates apart from reads, and update_many not at all', async () => {
    const small = await openAccount({ now: account.now, rateLimit: { ticketUpdatesPerMinute: 1 } });
    const put = () => small.call('PUT', ticket, { ticket: { subject: 'x' } });
    const first = await put();
    expect([first.status, first.headers.get('zendesk-ratelimit-tickets-update')]).toEqual([
      200,
      'total=1; remaining=0; resets=60',
    ]);
    expect((await put()).status).toBe(429);
    expect((await small.call('GET', ticket)).status).toBe(200);
    expect((await small.call('PUT', '/api/v2/tickets/update_many?ids=41960', { ticket: {} })).status).toBe(200);
    await small.close();
  });

  test('it allows 30 updates of one ticket in ten minutes', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 31; index += 1)
      statuses.push((await account.call('PUT', ticket, { ticket: {} })).status);
    expect(statuses.map((status, index) => [status, index]).filter(([status]) => status === 429)).toEqual([[429, 30]]);
  });

  test('it counts calls by endpoint, refused ones included, control calls not', async () => {
    await account.call('GET', `${ticket}.json`);
    await account.call('GET', '/api/v2/tickets/7');
    await account.call('GET', '/api/v2/nothing');
    await request(`${account.url}/_control/tickets/41960`, 'GET');
    expect([account.standin.callCounts(), account.standin.totalCalls()]).toEqual([
      { 'GET /api/v2/tickets/{id}': 2, 'GET /api/v2/nothing': 1 },
      3,
    ]);
  });
});

test('it can be run over HTTP alone', async () => {
  const control = (method: string, path: string, body?: unknown) =>
    request(`${account.url}/_control/${path}`, method, body);
  expect((await control('POST', 'tickets', { id: 77, requesterId: customer })).json).toEqual({ id: 77 });
  expect((await control('POST', 'tickets/77/solve', {})).json).toEqual([]);
  expect((await control('GET', 'tickets/77')).json.ticket).toMatchObject({
    id: 77,
    status: 'solved',
    assignee_id: agent,
  });
  expect((await control('POST', 'tickets/78/solve', {})).status).toBe(409);
  expect((await control('POST', 'tickets', { requester: 1 })).status).toBe(400);
  expect((await control('POST', 'reset')).status).toBe(200);
  expect((await control('GET', 'tickets')).json).toEqual([]);
});
