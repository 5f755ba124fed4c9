import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Account,
  agent,
  customer,
  fields,
  grant,
  openAccount,
  request,
} from '../../../support/standins/zendesk/account.ts';

let now = Date.parse('2026-11-21T10:00:00Z');
let account: Account;

beforeEach(async () => {
  now = Date.parse('2026-11-21T10:00:00Z');
  account = await openAccount({ now: () => new Date(now) });
});
afterEach(() => account.close());

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
    now += 1_800_000;
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

describe('reading', () => {
  test('it shows a ticket with numbers as ids and arrays beside it', async () => {
    const { json } = await account.call('GET', `${ticket}.json?include=users,groups,organizations,metric_sets`);
    expect(json.ticket).toMatchObject({
      id: 41960,
      status: 'open',
      requester_id: customer,
      assignee_id: agent,
      custom_status_id: 5002,
      updated_at: '2026-11-21T10:00:00Z',
    });
    expect(json.ticket.custom_fields).toContainEqual({ id: fields.dropdown, value: null });
    expect(json.users.map((user: { id: number }) => user.id)).toEqual([customer, agent]);
    expect([json.groups[0].name, json.organizations[0].name]).toEqual(['Phone', 'Acme']);
    expect(json.metric_sets).toEqual([expect.objectContaining({ ticket_id: 41960, reopens: 0, solved_at: null })]);
  });

  test('it leaves missing and deleted ids out of show_many', async () => {
    account.standin.addTicket({ id: 7, requesterId: customer });
    await account.standin.deleteTicket(7);
    const { status, json } = await account.call('GET', '/api/v2/tickets/show_many.json?ids=41960,7,8');
    expect([status, json.tickets.map((one: { id: number }) => one.id)]).toEqual([200, [41960]]);
  });

  const refusals: [name: string, path: string, status: number, error: unknown][] = [
    ['answers RecordNotFound for a ticket that is not there', '/api/v2/tickets/1.json', 404, 'RecordNotFound'],
    ['answers InvalidEndpoint for a doubled slash', '/api/v2//tickets/41960.json', 404, 'InvalidEndpoint'],
    [
      'refuses 101 ids',
      `/api/v2/users/show_many?ids=${Array.from({ length: 101 }, (_v, i) => i + 1).join()}`,
      400,
      expect.anything(),
    ],
    ['refuses a page of 101', '/api/v2/groups?page[size]=101', 400, expect.anything()],
    [
      'refuses an export from this minute',
      `/api/v2/incremental/tickets/cursor.json?start_time=${Date.parse('2026-11-21T09:59:01Z') / 1000}`,
      400,
      'StartTimeTooRecent',
    ],
  ];
  test.each(refusals)('it %s', async (_name, path, status, error) => {
    const reply = await account.call('GET', path);
    expect([reply.status, reply.json.error]).toEqual([status, error]);
  });

  test('it lists all ticket fields at once, system fields not removable, dropdowns with options', async () => {
    const { json } = await account.call('GET', '/api/v2/ticket_fields.json');
    expect(json.ticket_fields.filter((one: { removable: boolean }) => !one.removable).length).toBeGreaterThan(5);
    expect(json.ticket_fields.find((one: { id: number }) => one.id === fields.dropdown)).toMatchObject({
      type: 'tagger',
      custom_field_options: [
        { name: '9', value: 'fb_grade_9' },
        { name: '10', value: 'fb_grade_10' },
      ],
    });
  });

  test('it exports changes older than a minute, with a cursor that goes on', async () => {
    account.standin.addTicket({ id: 50_000, requesterId: customer });
    now += 120_000;
    account.standin.addTicket({ id: 50_001, requesterId: customer });
    const start = Date.parse('2026-11-21T09:00:00Z') / 1000;
    const first = await account.call('GET', `/api/v2/incremental/tickets/cursor.json?start_time=${start}&per_page=1`);
    const second = await account.call(
      'GET',
      `/api/v2/incremental/tickets/cursor.json?cursor=${first.json.after_cursor}`,
    );
    expect([first.json.tickets[0].id, first.json.end_of_stream]).toEqual([41960, false]);
    expect([second.json.tickets.map((one: { id: number }) => one.id), second.json.end_of_stream]).toEqual([
      [50_000],
      true,
    ]);
  });

  test('it exports to admins only', async () => {
    account.standin.changeSettings({ apiRole: 'agent' });
    expect((await account.call('GET', '/api/v2/incremental/tickets/cursor?start_time=1')).status).toBe(403);
  });
});

describe('a ticket update', () => {
  const values: [name: string, id: number, sent: unknown, kept: unknown, tags: string[]][] = [
    [
      'takes an option of a dropdown, which becomes a tag',
      fields.dropdown,
      'fb_grade_9',
      'fb_grade_9',
      ['vip', 'fb_grade_9'],
    ],
    ['drops a dropdown value that is no option, with 200', fields.dropdown, 'fb_grade_8', null, ['vip']],
    ["drops a dropdown option's display name, with 200", fields.dropdown, '9', null, ['vip']],
    ['takes a number as text', fields.number, '9', 9, ['vip']],
    ['takes a day', fields.when, '2026-11-21', '2026-11-21', ['vip']],
    ['takes text', fields.text, 'thanks', 'thanks', ['vip']],
    ['ticks a checkbox, which becomes its tag', fields.box, true, true, ['vip', 'fb_asked']],
    ['takes several options', fields.many, ['why_a', 'why_b', 'other'], ['why_a', 'why_b'], ['vip', 'why_a', 'why_b']],
    ['ignores a field that is not there', 1, 'x', undefined, ['vip']],
  ];
  test.each(values)('it %s', async (_name, id, sent, kept, tags) => {
    const { status, json } = await account.call('PUT', `${ticket}.json`, {
      ticket: { custom_fields: [{ id, value: sent }] },
    });
    const field = json.ticket.custom_fields.find((one: { id: number }) => one.id === id);
    expect([status, field?.value, json.ticket.tags]).toEqual([200, kept, tags]);
  });

  const refusals: [name: string, patch: object, status: number, key: string][] = [
    ['refuses a word in an integer field', { custom_fields: [{ id: fields.number, value: 'nine' }] }, 422, 'base'],
    ['refuses a day that does not exist', { custom_fields: [{ id: fields.when, value: '2026-02-30' }] }, 422, 'base'],
    ['refuses an unknown status', { status: 'Solved' }, 422, 'status'],
    ['refuses to go back to new', { status: 'new' }, 422, 'status'],
    ['refuses to solve what nobody has', { status: 'solved', assignee_id: null }, 422, 'base'],
  ];
  test.each(refusals)('it %s', async (_name, patch, status, key) => {
    const reply = await account.call('PUT', ticket, { ticket: patch });
    expect([reply.status, reply.json.error, Object.keys(reply.json.details)]).toEqual([status, 'RecordInvalid', [key]]);
    expect(account.standin.ticket(41960).audits).toEqual([]);
  });

  test('it replaces the dropdown tag with the value and clears the value with the tag', async () => {
    await account.call('PUT', ticket, { ticket: { custom_fields: [{ id: fields.dropdown, value: 'fb_grade_9' }] } });
    await account.call('PUT', ticket, { ticket: { custom_fields: [{ id: fields.dropdown, value: 'fb_grade_10' }] } });
    expect(account.standin.ticket(41960)).toMatchObject({ tags: ['vip', 'fb_grade_10'] });
    await account.call('PUT', ticket, { ticket: { tags: ['other'] } });
    expect(account.standin.ticket(41960)).toMatchObject({ tags: ['other'], fields: { [fields.dropdown]: null } });
  });

  test('it ignores unknown keys, and additional_tags outside update_many, and says so in a header', async () => {
    const { status, headers, json } = await account.call('PUT', ticket, {
      ticket: { additional_tags: ['x'], grade: 9 },
    });
    expect([status, json.ticket.tags, json.audit.events]).toEqual([200, ['vip'], []]);
    expect(headers.get('x-zendesk-api-warn')).toContain('["additional_tags","grade"]');
  });

  const comments: [name: string, isPublic: boolean, comment: object, shown: boolean, mails: number][] = [
    ['makes a comment public by default on a public ticket, and mails it', true, { body: 'hi' }, true, 1],
    ['makes a comment private by default on a private ticket', false, { body: 'hi' }, false, 0],
    ['keeps an internal note internal', true, { body: 'hi', public: false }, false, 0],
  ];
  test.each(comments)('it %s', async (_name, isPublic, comment, shown, mails) => {
    account.standin.addTicket({ id: 5, requesterId: customer, isPublic });
    const { json } = await account.call('PUT', '/api/v2/tickets/5', {
      ticket: { comment, metadata: { feedback_id: 'fb_77' } },
    });
    expect([json.audit.events[0].type, json.audit.events[0].public, json.audit.metadata.custom]).toEqual([
      'Comment',
      shown,
      { feedback_id: 'fb_77' },
    ]);
    const audits = await account.call('GET', '/api/v2/tickets/5/audits.json');
    expect([audits.json.audits.length, account.standin.ticket(5).mails]).toEqual([1, mails]);
  });

  const stamps: [name: string, body: object, status: number][] = [
    ['takes a safe update of what it last saw', { safe_update: true, updated_stamp: '2026-11-21T10:00:00Z' }, 200],
    ['refuses a safe update of an older state', { safe_update: true, updated_stamp: '2026-11-21T09:59:59Z' }, 409],
    ['takes safe_update:false for true', { safe_update: false, updated_stamp: '2026-11-21T09:59:59Z' }, 409],
  ];
  test.each(stamps)('it %s', async (_name, body, status) => {
    expect((await account.call('PUT', ticket, { ticket: { ...body, subject: 'New' } })).status).toBe(status);
  });

  const tagCalls: [name: string, method: string, status: number, tags: string[]][] = [
    ['adds tags with PUT', 'PUT', 200, ['vip', 'a']],
    ['replaces tags with POST', 'POST', 201, ['a']],
    ['removes tags with DELETE and a body', 'DELETE', 200, []],
  ];
  test.each(tagCalls)('it %s', async (_name, method, status, tags) => {
    const body = { tags: method === 'DELETE' ? ['vip'] : ['A'] };
    const reply = await account.call(method, `${ticket}/tags.json`, body);
    expect([reply.status, reply.json]).toEqual([status, { tags }]);
  });
});

describe('a closed ticket', () => {
  const closedBody = {
    error: 'RecordInvalid',
    description: 'Record validation errors',
    details: { status: [{ description: 'Status: closed prevents ticket update' }] },
  };
  beforeEach(() => account.standin.close(41960));

  test('it refuses every update with 422', async () => {
    const reply = await account.call('PUT', ticket, { ticket: { custom_fields: [] } });
    expect([reply.status, reply.json]).toEqual([422, closedBody]);
    expect((await account.call('PUT', `${ticket}/tags`, { tags: ['a'] })).status).toBe(422);
  });

  const edits: [name: string, role: 'admin' | 'agent', patch: object, status: number][] = [
    [
      'takes fields from an admin where closed tickets may be modified',
      'admin',
      { custom_fields: [{ id: fields.number, value: 9 }] },
      200,
    ],
    ['refuses a comment even there', 'admin', { comment: { body: 'x', public: false } }, 422],
    ['refuses an agent even there', 'agent', { custom_fields: [] }, 422],
  ];
  test.each(edits)('it %s', async (_name, apiRole, patch, status) => {
    account.standin.changeSettings({ modifyClosedTickets: true, apiRole });
    expect((await account.call('PUT', ticket, { ticket: patch })).status).toBe(status);
  });

  test('it fails alone in update_many', async () => {
    account.standin.addTicket({ id: 5, requesterId: customer });
    const stale = { id: 5, safe_update: true, updated_stamp: '2020-01-01T00:00:00Z' };
    const tickets = [
      { id: 41960, subject: 'a' },
      { id: 5, subject: 'b', additional_tags: ['t'] },
      { id: 6, subject: 'c' },
      stale,
    ];
    const { json } = await account.call('PUT', '/api/v2/tickets/update_many.json', { tickets });
    expect(json.job_status).toMatchObject({ status: 'queued', total: 4, results: null });
    await account.standin.idle();
    const done = await account.call('GET', `/api/v2/job_statuses/show_many.json?ids=${json.job_status.id}`);
    expect(done.json.job_statuses[0].status).toBe('completed');
    expect(done.json.job_statuses[0].results).toMatchObject([
      { id: 41960, success: false, error: 'RecordInvalid', details: 'Status: closed prevents ticket update' },
      { id: 5, success: true, status: 'Updated' },
      { id: 6, success: false, error: 'RecordNotFound' },
      { id: 5, success: false, error: 'UpdateConflict' },
    ]);
    expect(account.standin.ticket(5).tags).toEqual(['t']);
  });
});

describe('update_many', () => {
  test('it makes the same change to every id of the query', async () => {
    account.standin.addTicket({ id: 5, requesterId: customer });
    await account.call('PUT', '/api/v2/tickets/update_many.json?ids=5,41960', {
      ticket: { additional_tags: ['asked'], remove_tags: ['vip'] },
    });
    await account.standin.idle();
    expect([account.standin.ticket(5).tags, account.standin.ticket(41960).tags]).toEqual([['asked'], ['asked']]);
  });

  test('it shows a job queued, then working, then completed', async () => {
    const gates: (() => void)[] = [];
    const slow = await openAccount({ sleep: () => new Promise((resolve) => gates.push(resolve)) });
    const { json } = await slow.call('PUT', '/api/v2/tickets/update_many?ids=41960', { ticket: { subject: 'x' } });
    const seen: string[] = [];
    for (const _ of [1, 2, 3]) {
      seen.push((await slow.call('GET', `/api/v2/job_statuses/${json.job_status.id}.json`)).json.job_status.status);
      gates.shift()?.();
    }
    await slow.close();
    expect(seen).toEqual(['queued', 'working', 'completed']);
  });

  test('it refuses the 31st job at once with TooManyJobs', async () => {
    const busy = await openAccount({ sleep: () => new Promise(() => {}) });
    const start = () => busy.call('PUT', '/api/v2/tickets/update_many?ids=41960', { ticket: { subject: 'x' } });
    const replies = await Promise.all(Array.from({ length: 31 }, start));
    await busy.close();
    expect(replies.filter((reply) => reply.status === 200).length).toBe(30);
    expect(replies.find((reply) => reply.status !== 200)?.json.error).toBe('TooManyJobs');
  });

  const refusals: [name: string, query: string, body: object][] = [
    ['refuses more than 100 tickets', '', { tickets: Array.from({ length: 101 }, (_v, index) => ({ id: index + 1 })) }],
    ['refuses a body without tickets', '', { ticket: {} }],
    ['refuses tickets without ids', '', { tickets: [{}] }],
  ];
  test.each(refusals)('it %s', async (_name, query, body) => {
    expect((await account.call('PUT', `/api/v2/tickets/update_many${query}`, body)).status).toBe(400);
  });
});

describe('the metric set', () => {
  test('it counts reopenings and knows the last solve', async () => {
    await account.standin.solve(41960);
    now += 60_000;
    await account.standin.comment({ id: 41960, authorId: customer, body: 'still broken' });
    expect(account.standin.ticket(41960)).toMatchObject({
      ticket: { status: 'open' },
      metric_set: { reopens: 1, solved_at: '2026-11-21T10:00:00Z' },
    });
    now += 60_000;
    await account.standin.solve(41960);
    expect(account.standin.ticket(41960)).toMatchObject({
      metric_set: { reopens: 1, solved_at: '2026-11-21T10:02:00Z' },
    });
    await account.standin.close(41960);
    expect(account.standin.ticket(41960)).toMatchObject({
      ticket: { status: 'closed', custom_status_id: 5005 },
      metric_set: { solved_at: '2026-11-21T10:02:00Z' },
    });
  });
});

describe('limits', () => {
  test('it answers 429 as text/html with Retry-After, and serves again after that time', async () => {
    const small = await openAccount({ now: () => new Date(now), rateLimit: { perMinute: 2 } });
    expect((await small.call('GET', ticket)).headers.get('x-rate-limit-remaining')).toBe('1');
    now += 20_000;
    await small.call('GET', ticket);
    const refused = await small.call('GET', ticket);
    expect([
      refused.status,
      refused.headers.get('retry-after'),
      refused.headers.get('content-type'),
      refused.json,
    ]).toEqual([429, '40', 'text/html; charset=utf-8', undefined]);
    now += 40_000;
    expect((await small.call('GET', ticket)).status).toBe(200);
    await small.close();
  });

  test('it limits ticket updates apart from reads, and update_many not at all', async () => {
    const small = await openAccount({ now: () => new Date(now), rateLimit: { ticketUpdatesPerMinute: 1 } });
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

describe('users', () => {
  test('it updates user fields that exist, once a second and five times a minute', async () => {
    account.standin.changeUser({ id: customer, userFields: { last_grade: null } });
    const put = () =>
      account.call('PUT', `/api/v2/users/${customer}.json`, { user: { user_fields: { last_grade: 9, other: 1 } } });
    const first = await put();
    expect([first.status, first.json.user.user_fields]).toEqual([200, { last_grade: 9 }]);
    expect((await put()).status).toBe(429);
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
