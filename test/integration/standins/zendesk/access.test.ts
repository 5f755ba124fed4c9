import { describe, expect, test } from 'vitest';
import { customer, grant, openAccount, request, useAccount } from '../../../support/standins/zendesk/account.ts';

/* What the connector never provokes, and Zendesk has: tokens, scopes, limits. */

const account = useAccount();
const ticket = '/api/v2/tickets/41960';
const token = (body: Record<string, unknown>) => request(`${account.url}/oauth/tokens`, 'POST', body);

test.each<[what: string, body: Record<string, unknown>, status: number, error: string]>([
  ['a wrong secret', grant('read', { client_secret: 'x' }), 401, 'invalid_client'],
  ['another grant', grant('read', { grant_type: 'password' }), 400, 'unsupported_grant_type'],
  ['an unknown scope', grant('ticket_fields:read'), 400, 'invalid_scope'],
  ['a scope that the client may not have', grant('read impersonate'), 400, 'invalid_scope'],
  ['a lifetime under five minutes', grant('read', { expires_in: 299 }), 400, 'invalid_request'],
  ['a lifetime over two days', grant('read', { expires_in: 172_801 }), 400, 'invalid_request'],
])('a token is refused for %s', async (_what, body, status, error) => {
  account.standin.changeSettings({ admin: { clientScopes: ['read'] } });
  const reply = await token(body);
  expect([reply.status, reply.json.error]).toEqual([status, error]);
});

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
test.each<[says: string, caller: string | object, method: string, path: string, status: number]>([
  ['lets a narrow scope read its resource', grant('tickets:read'), 'GET', ticket, 200],
  ['keeps tickets:read from users', grant('tickets:read'), 'GET', `/api/v2/users/${customer}`, 403],
  ['has no scope for fields but read', grant('tickets:read'), 'GET', '/api/v2/ticket_fields', 403],
  ['knows a scope for webhooks', grant('webhooks:read'), 'GET', '/api/v2/webhooks', 200],
  ['keeps read from writing', grant('read'), 'PUT', ticket, 403],
  ['lets tickets:write write tickets', grant('tickets:write'), 'PUT', ticket, 200],
  ['forbids everything to a scope that was an array', grant(['read', 'write']), 'GET', ticket, 403],
  ['refuses an expired token', grant('read', { expires_in: 299 + 1 }), 'GET', ticket, 401],
  ['takes an API token of an agent', basic('ann@example.com/token:zendesk-api-token'), 'GET', ticket, 200],
  ['refuses an API token of a customer', basic('cora@example.com/token:zendesk-api-token'), 'GET', ticket, 401],
  ['refuses email and password', basic('ann@example.com:zendesk-api-token'), 'GET', ticket, 401],
  ['refuses a caller without credentials', '', 'GET', ticket, 401],
])('it %s', async (says, caller, method, path, status) => {
  const authorization =
    typeof caller === 'string' ? caller : `Bearer ${(await token({ ...caller })).json.access_token}`;
  if (says.includes('expired')) account.clock.now += 300_000;
  const reply = await account.call(method, path, method === 'GET' ? undefined : { ticket: {} }, { authorization });
  expect(reply.status).toBe(status);
});

describe('limits', () => {
  test('429 is text/html with Retry-After, and over after that time', async () => {
    const small = await openAccount({ now: account.now, rateLimit: { perMinute: 2 } });
    expect((await small.call('GET', ticket)).headers.get('x-rate-limit-remaining')).toBe('1');
    account.clock.now += 20_000;
    await small.call('GET', ticket);
    const { status, headers, json } = await small.call('GET', ticket);
    expect([status, json, headers.get('retry-after')]).toEqual([429, undefined, '40']);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    account.clock.now += 40_000;
    expect((await small.call('GET', ticket)).status).toBe(200);
    await small.close();
  });

  const put = (path = ticket) => account.call('PUT', path, { ticket: {} });
  const statuses = async (count: number, call: () => Promise<{ status: number }>) => {
    const all: number[] = [];
    for (let n = 0; n < count; n++) all.push((await call()).status);
    return [all.length, all.indexOf(429)];
  };

  test('updates of tickets are counted apart from reads, those of update_many not at all', async () => {
    account.standin.changeSettings({ ticketUpdatesPerMinute: 1 });
    expect((await put()).headers.get('zendesk-ratelimit-tickets-update')).toBe('total=1; remaining=0; resets=60');
    expect([(await put()).status, (await account.call('GET', ticket)).status]).toEqual([429, 200]);
    expect((await put('/api/v2/tickets/update_many?ids=41960')).status).toBe(200);
  });

  test('one ticket takes 30 updates in ten minutes, a user one a second, and an account 30 jobs', async () => {
    expect(await statuses(31, put)).toEqual([31, 30]);
    const user = { user: { user_fields: {} } };
    expect(await statuses(2, () => account.call('PUT', `/api/v2/users/${customer}`, user))).toEqual([2, 1]);
    const busy = await openAccount({ sleep: () => new Promise(() => {}) });
    const start = () => busy.call('PUT', '/api/v2/tickets/update_many?ids=41960', { ticket: {} });
    const replies = await Promise.all(Array.from({ length: 31 }, start));
    expect(replies.flatMap(({ status, json }) => (status === 200 ? [] : [json.error]))).toEqual(['TooManyJobs']);
    await busy.close();
  });
});
