import { describe, expect, test } from 'vitest';
import {
  customer,
  fields,
  grant,
  openAccount,
  type Reply,
  request,
  useAccount,
} from '../../../support/standins/zendesk/account.ts';

/* What Zendesk refuses, drops or changes without a word, and the connector never provokes or could not tell from success. */

const account = useAccount();
const ticket = '/api/v2/tickets/41960';
const call = (what: string, body?: object): Promise<Reply> => {
  const [method = '', path = ''] = what.split(' ');
  return account.call(method, `/api/v2${path}`, body);
};

const events = ['zen:event-type:ticket.status_changed'];
const connection = 'conditional_ticket_events';
const webhook = (change: object = {}) => ({
  webhook: {
    ...{ name: 'ours', endpoint: 'https://closeloop.example.com/hooks/support', http_method: 'POST' },
    ...{ request_format: 'json', status: 'active', subscriptions: events, ...change },
  },
});
const solved = { all: [{ field: 'status', operator: 'value', value: 'solved' }] };
const open = [{ field: 'status', value: 'open' }];
const trigger = (change: object = {}) => ({ trigger: { title: 'Ours', conditions: solved, actions: open, ...change } });
const notify = (id: string) => ({ actions: [{ field: 'notification_webhook', value: [id, '{}'] }] });
const options = (value: string) => [{ name: 'One', value }];
const field = (change: object) => ({
  title: 'Grade',
  type: 'dropdown',
  custom_field_options: options('new'),
  ...change,
});
const userField = (change: object) => ({ user_field: field({ key: 'x', ...change }) });
const objectField = (change: object) => ({ custom_object_field: field({ key: 'x', ...change }) });
const option = (value: string) => ({ custom_field_option: { name: 'x', value } });
const object = (change: object = {}) => ({
  custom_object: { key: 'feedback', title: 'Feedback', title_pluralized: 'Feedback records', ...change },
});
const ofObject = '/custom_objects/feedback/fields';
const ofDropdown = `POST /ticket_fields/${fields.dropdown}/options`;
const put = 'PUT /tickets/41960';
const value = (id: number, sent: unknown) => ({ ticket: { custom_fields: [{ id, value: sent }] } });
const many = (count: number) => Array.from({ length: count }, (_value, index) => index + 1);
const justNow = Date.parse('2026-11-21T09:59:01Z') / 1000;

test.each<[what: string, call: string, body: object | undefined, status: number]>([
  ['an event that does not exist', 'POST /webhooks', webhook({ subscriptions: [`${events}d`] }), 400],
  ['both connections', 'POST /webhooks', webhook({ subscriptions: [...events, connection] }), 400],
  ['events by PUT', 'POST /webhooks', webhook({ http_method: 'PUT' }), 400],
  ['events as XML', 'POST /webhooks', webhook({ request_format: 'xml' }), 400],
  ['a trigger without condition', 'POST /triggers', trigger({ conditions: { all: [] } }), 422],
  ['a trigger without action', 'POST /triggers', trigger({ actions: [] }), 422],
  ['a trigger of no webhook', 'POST /triggers', trigger(notify('01')), 422],
  ['a dropdown without options', 'POST /ticket_fields', { ticket_field: { title: 'x', type: 'tagger' } }, 422],
  ["a user's type on tickets", 'POST /ticket_fields', { ticket_field: { title: 'x', type: 'dropdown' } }, 400],
  ['a user field twice', 'POST /user_fields', userField({ key: 'tier' }), 422],
  ['a user field that is digits', 'POST /user_fields', userField({ key: '12' }), 400],
  ['an object twice', 'POST /custom_objects', object(), 422],
  ["an object's field twice", `POST ${ofObject}`, objectField({ key: 'grade' }), 422],
  ["an object's field that is digits", `POST ${ofObject}`, objectField({ key: '12' }), 400],
  ["a ticket's type on objects", `POST ${ofObject}`, objectField({ type: 'tagger' }), 400],
  ["an object's field without options", `POST ${ofObject}`, objectField({ custom_field_options: [] }), 422],
  ['a new dropdown with a taken tag', 'POST /ticket_fields', { ticket_field: taken() }, 422],
  ["a user's with it", 'POST /user_fields', userField({ custom_field_options: options('fb_grade_9') }), 422],
  ["an option with a multi-select's tag", ofDropdown, option('why_a'), 422],
  ["an option with a checkbox's", ofDropdown, option('fb_asked'), 422],
  ["an option with a user field's", ofDropdown, option('gold'), 422],
  ["a user field's option with a ticket's", 'POST /user_fields/tier/options', option('why_a'), 422],
  ['101 ids', `GET /users/show_many?ids=${many(101)}`, undefined, 400],
  ['an export from this minute', `GET /incremental/tickets/cursor?start_time=${justNow}`, undefined, 400],
  ['a word in a number', put, value(fields.number, 'nine'), 422],
  ['a day that does not exist', put, value(fields.when, '2026-02-30'), 422],
  ['an unknown status', put, { ticket: { status: 'Solved' } }, 422],
  ['going back to new', put, { ticket: { status: 'new' } }, 422],
  ['solving what nobody has', put, { ticket: { status: 'solved', assignee_id: null } }, 422],
  ['a safe update of an older state', put, { ticket: stamped(true) }, 409],
  ['safe_update: false, which is taken for true', put, { ticket: stamped(false) }, 409],
  ['101 tickets', 'PUT /tickets/update_many', { tickets: many(101).map((id) => ({ id })) }, 400],
])('it refuses %s', async (_what, what, body, status) => {
  account.standin.addUserField({ key: 'tier', type: 'dropdown', options: [{ name: 'Gold', value: 'gold' }] });
  expect((await call('POST /custom_objects', object())).status).toBe(201);
  // A tag belongs to one field; what records of custom objects hold is no tag.
  const grade = objectField({ key: 'grade', custom_field_options: options('fb_grade_9') });
  expect((await call(`POST ${ofObject}`, grade)).status).toBe(201);
  expect((await call(what, body)).status).toBe(status);
  expect(account.standin.ticket(41960).audits).toEqual([]);
});

function taken(): object {
  return { title: 'x', type: 'tagger', custom_field_options: options('fb_grade_9') };
}
function stamped(safe_update: boolean): object {
  return { subject: 'New', safe_update, updated_stamp: '2026-11-21T09:59:59Z' };
}

describe('an update of a ticket', () => {
  test.each<[what: string, id: number, sent: unknown, kept: unknown, tags: string[]]>([
    ['makes an option a tag', fields.dropdown, 'fb_grade_9', 'fb_grade_9', ['fb_grade_9']],
    ['drops what is no option', fields.dropdown, 'fb_grade_8', null, []],
    ["drops an option's name", fields.dropdown, '9', null, []],
    ['takes a number as text', fields.number, '9', 9, []],
    ['makes a ticked checkbox its tag', fields.box, true, true, ['fb_asked']],
    ['takes several options', fields.many, ['why_a', 'why_b', 'other'], ['why_a', 'why_b'], ['why_a', 'why_b']],
    ['ignores a field that is not there', 1, 'x', undefined, []],
  ])('%s, with 200', async (_what, id, sent, kept, tags) => {
    const { status, json } = await call(put, value(id, sent));
    const shown = json.ticket.custom_fields.find((one: { id: number }) => one.id === id);
    expect([status, shown?.value, json.ticket.tags]).toEqual([200, kept, ['vip', ...tags]]);
  });
});

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

test('an export has nothing of the last minute', async () => {
  account.clock.now += 60_000;
  account.standin.addTicket({ id: 50_000, requesterId: customer });
  const { json } = await call(`GET /incremental/tickets/cursor?start_time=${justNow - 3_600}`);
  expect(json.tickets.map(({ id }: { id: number }) => id)).toEqual([41960]);
});
