import { describe, expect, test } from 'vitest';
import {
  agent,
  customer,
  fields,
  grant,
  type Reply,
  request,
  useAccount,
} from '../../../support/standins/zendesk/account.ts';

const account = useAccount();

const hook = {
  name: 'ours',
  endpoint: 'https://closeloop.example.com/hooks/support',
  http_method: 'POST',
  request_format: 'json',
  status: 'active',
  subscriptions: ['zen:event-type:ticket.status_changed'],
};
const connected = { ...hook, subscriptions: ['conditional_ticket_events'] };
const makeHook = async (webhook: object): Promise<Reply> => account.call('POST', '/api/v2/webhooks', { webhook });

async function with_(scope: string): Promise<(method: string, path: string, body?: unknown) => Promise<Reply>> {
  const { json } = await request(`${account.url}/oauth/tokens`, 'POST', grant(scope));
  const authorization = `Bearer ${json.access_token}`;
  return (method, path, body) => request(`${account.url}${path}`, method, body, { authorization });
}

describe('rights', () => {
  const admins: [method: string, path: string, body?: object][] = [
    ['GET', '/api/v2/webhooks'],
    ['POST', '/api/v2/webhooks', { webhook: hook }],
    ['POST', '/api/v2/triggers.json', { trigger: {} }],
    ['POST', '/api/v2/ticket_fields.json', { ticket_field: { title: 'x' } }],
    ['PUT', `/api/v2/ticket_fields/${fields.dropdown}.json`, { ticket_field: { title: 'x' } }],
    ['POST', `/api/v2/ticket_fields/${fields.dropdown}/options.json`, { custom_field_option: {} }],
    ['POST', '/api/v2/user_fields.json', { user_field: { key: 'x', title: 'x' } }],
  ];
  test.each(admins)('it lets only admins %s %s', async (method, path, body) => {
    account.standin.changeSettings({ apiRole: 'agent' });
    expect((await account.call(method, path, body)).status).toBe(403);
  });

  const open = ['/api/v2/triggers', '/api/v2/automations', '/api/v2/user_fields', '/api/v2/account/settings'];
  test.each(open)('it shows %s to agents', async (path) => {
    account.standin.changeSettings({ apiRole: 'agent' });
    expect((await account.call('GET', path)).status).toBe(200);
  });

  test('it knows scopes of their own for webhooks, triggers and automations, and none for fields and settings', async () => {
    const narrow = await with_('webhooks:read triggers:read automations:read');
    const paths = ['webhooks', 'triggers', 'automations', 'user_fields', 'ticket_fields', 'account/settings'];
    const replies = await Promise.all(paths.map((path) => narrow('GET', `/api/v2/${path}`)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 403, 403, 403]);
    expect((await narrow('POST', '/api/v2/webhooks', { webhook: hook })).status).toBe(403);
    const writer = await with_('webhooks:write');
    expect((await writer('POST', '/api/v2/webhooks', { webhook: hook })).status).toBe(201);
  });

  test('it gives a client no scope that it may not have', async () => {
    account.standin.changeSettings({ admin: { clientScopes: ['read'] } });
    expect((await request(`${account.url}/oauth/tokens`, 'POST', grant('read write'))).status).toBe(400);
    const reader = await with_('read');
    expect((await reader('GET', '/api/v2/oauth/tokens/current.json')).json.token.scopes).toEqual(['read']);
  });
});

describe('webhooks', () => {
  const refused: [name: string, change: object][] = [
    ['an event that does not exist', { subscriptions: ['zen:event-type:ticket.solved'] }],
    ['both connections at once', { subscriptions: [...hook.subscriptions, ...connected.subscriptions] }],
    ['events by PUT', { http_method: 'PUT' }],
    ['events as XML', { request_format: 'xml' }],
    ['no name', { name: '' }],
    ['no address', { endpoint: 'closeloop' }],
    ['headers of its own without https', { endpoint: 'http://example.com', custom_headers: { a: 'b' } }],
    ['a signing secret', { signing_secret: { secret: 'mine' } }],
  ];
  test.each(refused)('it refuses %s', async (_name, change) => {
    expect((await makeHook({ ...hook, ...change })).status).toBe(400);
  });

  test('it refuses ticket events where the account has none, and an eleventh webhook of a trial', async () => {
    account.standin.changeSettings({ admin: { ticketEvents: false, trial: true } });
    expect((await makeHook(hook)).status).toBe(400);
    for (let made = 0; made < 10; made++) expect((await makeHook(connected)).status).toBe(201);
    expect((await makeHook(connected)).status).toBe(403);
  });

  test('it changes what a PATCH names, but never the kind of connection', async () => {
    const { id } = (await makeHook(hook)).json.webhook;
    const patch = (webhook: object) => account.call('PATCH', `/api/v2/webhooks/${id}`, { webhook });
    expect((await patch({ status: 'inactive' })).status).toBe(204);
    expect((await patch({ subscriptions: ['conditional_ticket_events'] })).status).toBe(400);
    const { json } = await account.call('GET', `/api/v2/webhooks/${id}`);
    expect(json.webhook).toEqual({ ...hook, id, status: 'inactive' });
  });

  test('it resets a signing secret', async () => {
    const { id } = (await makeHook(hook)).json.webhook;
    const path = `/api/v2/webhooks/${id}/signing_secret`;
    const before = (await account.call('GET', path)).json.signing_secret.secret;
    const { status, json } = await account.call('POST', path);
    expect([status, json.signing_secret.secret === before]).toEqual([201, false]);
    expect((await account.call('GET', path)).json).toEqual(json);
  });

  test('it keeps what became of deliveries', async () => {
    const { id } = account.standin.setWebhook({ url: `${account.url}/nobody/takes/this` });
    await account.standin.solve(41960);
    await account.standin.reopen(41960);
    const all = await account.call('GET', `/api/v2/webhooks/${id}/invocations?sort=-latest_completed_at`);
    expect(all.json.invocations.map(({ status }: { status: string }) => status)).toEqual([
      'client error',
      'client error',
    ]);
    const good = await account.call('GET', `/api/v2/webhooks/${id}/invocations?filter[status]=success`);
    expect(good.json.invocations).toEqual([]);
  });
});

describe('triggers', () => {
  const solved = { all: [{ field: 'status', operator: 'value', value: 'solved' }] };
  const make = (trigger: object) => account.call('POST', '/api/v2/triggers.json', { trigger });

  test('it fires a webhook by its triggers only', async () => {
    const { id } = (await makeHook(connected)).json.webhook;
    expect(await account.standin.solve(41960)).toEqual([]);
    const actions = [{ field: 'notification_webhook', value: [id, '{"ticket_id":"{{ticket.id}}"}'] }];
    const made = await make({ title: 'Ours', conditions: solved, actions });
    expect(made.status).toBe(201);
    expect(await account.standin.reopen(41960)).toEqual([]);
    const path = `/api/v2/triggers/${made.json.trigger.id}.json`;
    await account.call('PUT', path, { trigger: { active: false } });
    expect((await account.call('GET', path)).json.trigger).toMatchObject({ active: false, actions });
    expect(await account.standin.solve(41960)).toEqual([]);
  });

  test.each([
    ['no condition', () => ({ conditions: { all: [] } }), 422],
    ['no action', () => ({ actions: [] }), 422],
    ['a webhook that is not there', () => ({ actions: [{ field: 'notification_webhook', value: ['01', '{}'] }] }), 422],
    ['no title', () => ({ title: '' }), 400],
  ])('it refuses %s', async (_name, change, status) => {
    const trigger = { title: 'Ours', conditions: solved, actions: [{ field: 'status', value: 'open' }], ...change() };
    expect((await make(trigger)).status).toBe(status);
  });

  test('it refuses to call a webhook that is subscribed to events', async () => {
    const { id } = (await makeHook(hook)).json.webhook;
    const actions = [{ field: 'notification_webhook', value: [id, '{}'] }];
    expect((await make({ title: 'Ours', conditions: solved, actions })).status).toBe(422);
  });
});

describe('fields', () => {
  test('it takes options away that an update does not name', async () => {
    const path = `/api/v2/ticket_fields/${fields.dropdown}.json`;
    const before = (await account.call('GET', path)).json.ticket_field.custom_field_options;
    const custom_field_options = [{ name: '10', value: 'fb_grade_10' }];
    const { json } = await account.call('PUT', path, { ticket_field: { custom_field_options } });
    expect(json.ticket_field.custom_field_options).toMatchObject([{ id: before[1].id, value: 'fb_grade_10' }]);
  });

  test('it adds one option, and changes the one that is named', async () => {
    const path = `/api/v2/ticket_fields/${fields.dropdown}/options.json`;
    const post = (custom_field_option: object) => account.call('POST', path, { custom_field_option });
    const added = await post({ name: '8', value: 'fb_grade_8' });
    const { id } = added.json.custom_field_option;
    expect([added.status, (await post({ id, name: 'Eight', value: 'fb_grade_8' })).status]).toEqual([201, 200]);
    expect((await post({ name: 'Acht', value: 'fb_grade_8' })).status).toBe(422);
    expect(account.standin.ticketField(fields.dropdown).options.map(({ name }) => name)).toEqual(['9', '10', 'Eight']);
  });

  test('it makes no dropdown without options', async () => {
    const make = (ticket_field: object) => account.call('POST', '/api/v2/ticket_fields.json', { ticket_field });
    expect((await make({ title: 'Grade', type: 'tagger' })).status).toBe(422);
    expect((await make({ title: 'Grade', type: 'dropdown' })).status).toBe(400);
    const made = await make({ title: 'Said', type: 'textarea' });
    expect([made.status, made.json.ticket_field.removable]).toEqual([201, true]);
  });

  test('it gives every user a new user field, and no second one of the same key', async () => {
    const make = (user_field: object) => account.call('POST', '/api/v2/user_fields.json', { user_field });
    expect((await make({ key: 'last_grade', title: 'Grade', type: 'integer' })).status).toBe(201);
    expect((await make({ key: 'last_grade', title: 'Again', type: 'text' })).status).toBe(422);
    expect((await make({ key: '12', title: 'Digits', type: 'text' })).status).toBe(400);
    const shown = await Promise.all([customer, agent].map((id) => account.call('GET', `/api/v2/users/${id}.json`)));
    expect(shown.map(({ json }) => json.user.user_fields)).toEqual([{ last_grade: null }, { last_grade: null }]);
  });
});

test('it has the automation that closes solved tickets, and tells whether ratings are on', async () => {
  const { json } = await account.call('GET', '/api/v2/automations?active=true&page[size]=100');
  expect(json.automations).toMatchObject([{ active: true, actions: [{ field: 'status', value: 'closed' }] }]);
  account.standin.changeSettings({ admin: { customerSatisfaction: true } });
  const settings = await account.call('GET', '/api/v2/account/settings.json');
  expect(settings.json.settings.active_features.customer_satisfaction).toBe(true);
});
