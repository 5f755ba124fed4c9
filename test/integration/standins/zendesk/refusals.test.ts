import { describe, expect, test } from 'vitest';
import { customer, fields, type Reply, useAccount } from '../../../support/standins/zendesk/account.ts';

/* What Zendesk refuses, drops or changes without a word, and the connector never provokes or could not tell from success. */

const account = useAccount();
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
  ['a webhook without a name', 'POST /webhooks', webhook({ name: '' }), 400],
  ['a webhook without an address', 'POST /webhooks', webhook({ endpoint: 'closeloop' }), 400],
  ['headers over http', 'POST /webhooks', webhook({ endpoint: 'http://a.example', custom_headers: {} }), 400],
  ['a signing secret', 'POST /webhooks', webhook({ signing_secret: { secret: 'mine' } }), 400],
  ['a trigger without condition', 'POST /triggers', trigger({ conditions: { all: [] } }), 422],
  ['a trigger without action', 'POST /triggers', trigger({ actions: [] }), 422],
  ['a trigger without title', 'POST /triggers', trigger({ title: '' }), 400],
  ['a trigger of no webhook', 'POST /triggers', trigger(notify('01')), 422],
  ['a dropdown without options', 'POST /ticket_fields', { ticket_field: { title: 'x', type: 'tagger' } }, 422],
  ["a user's type on tickets", 'POST /ticket_fields', { ticket_field: { title: 'x', type: 'dropdown' } }, 400],
  ['a user field twice', 'POST /user_fields', userField({ key: 'tier' }), 422],
  ['a user field that is digits', 'POST /user_fields', userField({ key: '12' }), 400],
  ['an object twice', 'POST /custom_objects', object(), 422],
  ['an object without plural', 'POST /custom_objects', object({ key: 'other', title_pluralized: undefined }), 400],
  ['an object with a space', 'POST /custom_objects', object({ key: 'feed back' }), 400],
  ["an object's field twice", `POST ${ofObject}`, objectField({ key: 'grade' }), 422],
  ["an object's field that is digits", `POST ${ofObject}`, objectField({ key: '12' }), 400],
  ["an object's field without title", `POST ${ofObject}`, objectField({ title: undefined }), 400],
  ["a ticket's type on objects", `POST ${ofObject}`, objectField({ type: 'tagger' }), 400],
  ["an object's field without options", `POST ${ofObject}`, objectField({ custom_field_options: [] }), 422],
  ['the field of no object', 'PATCH /custom_objects/none/fields/grade', {}, 404],
  ['no field', `PATCH ${ofObject}/none`, {}, 404],
  ['a new dropdown with a taken tag', 'POST /ticket_fields', { ticket_field: taken() }, 422],
  ["a user's with it", 'POST /user_fields', userField({ custom_field_options: options('fb_grade_9') }), 422],
  ["an option with a multi-select's tag", ofDropdown, option('why_a'), 422],
  ["an option with a checkbox's", ofDropdown, option('fb_asked'), 422],
  ["an option with a user field's", ofDropdown, option('gold'), 422],
  ["a user field's option with a ticket's", 'POST /user_fields/tier/options', option('why_a'), 422],
  ['a doubled slash', 'GET //tickets/41960', undefined, 404],
  ['101 ids', `GET /users/show_many?ids=${many(101)}`, undefined, 400],
  ['a page of 101', 'GET /groups?page[size]=101', undefined, 400],
  ['an export from this minute', `GET /incremental/tickets/cursor?start_time=${justNow}`, undefined, 400],
  ['a word in a number', put, value(fields.number, 'nine'), 422],
  ['a day that does not exist', put, value(fields.when, '2026-02-30'), 422],
  ['an unknown status', put, { ticket: { status: 'Solved' } }, 422],
  ['going back to new', put, { ticket: { status: 'new' } }, 422],
  ['solving what nobody has', put, { ticket: { status: 'solved', assignee_id: null } }, 422],
  ['a safe update of an older state', put, { ticket: stamped(true) }, 409],
  ['safe_update: false, which is taken for true', put, { ticket: stamped(false) }, 409],
  ['101 tickets', 'PUT /tickets/update_many', { tickets: many(101).map((id) => ({ id })) }, 400],
  ['no list of tickets', 'PUT /tickets/update_many', { ticket: {} }, 400],
  ['tickets without ids', 'PUT /tickets/update_many', { tickets: [{}] }, 400],
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

test.each<[call: string, status: number, body?: object]>([
  ['GET /webhooks', 403],
  ['POST /webhooks', 403, webhook()],
  ['POST /triggers', 403, trigger()],
  ['POST /ticket_fields', 403, { ticket_field: { title: 'x' } }],
  [`PUT /ticket_fields/${fields.dropdown}`, 403, { ticket_field: { title: 'x' } }],
  [ofDropdown, 403, option('x')],
  ['POST /user_fields', 403, userField({})],
  ['POST /custom_objects', 403, object()],
  [`POST ${ofObject}`, 403, objectField({})],
  [`PATCH ${ofObject}/grade`, 403, objectField({})],
  ['GET /incremental/tickets/cursor?start_time=1', 403],
  ['GET /triggers', 200],
  ['GET /automations', 200],
  ['GET /user_fields', 200],
  ['GET /account/settings', 200],
])('an agent who calls %s gets %i', async (what, status, body) => {
  await call('POST /custom_objects', object());
  account.standin.changeSettings({ apiRole: 'agent' });
  expect((await call(what, body)).status).toBe(status);
});

test('an account has room for ten webhooks of a trial, events where it may, and as many objects as its plan', async () => {
  account.standin.changeSettings({ admin: { ticketEvents: false, trial: true } });
  account.standin.admin.settings.customObjects = 1;
  expect((await call('POST /webhooks', webhook())).status).toBe(400);
  const made = await Promise.all(many(11).map(() => call('POST /webhooks', webhook({ subscriptions: [connection] }))));
  expect(made.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 403]);
  const objects = ['one', 'two'].map((key) => call('POST /custom_objects', object({ key })));
  expect((await Promise.all(objects)).map(({ status }) => status)).toEqual([201, 422]);
});

test('a webhook never changes its kind of connection, and one of events is called by no trigger', async () => {
  const { id } = (await call('POST /webhooks', webhook())).json.webhook;
  expect((await call(`PATCH /webhooks/${id}`, { webhook: { subscriptions: [connection] } })).status).toBe(400);
  expect((await call('POST /triggers', trigger(notify(id)))).status).toBe(422);
});

test.each([
  ['ticket_field', `/ticket_fields/${fields.dropdown}`, 'PUT'],
  ['custom_object_field', `${ofObject}/grade`, 'PATCH'],
])('an update of a %s takes options away that it does not name', async (key, path, method) => {
  await call('POST /custom_objects', object());
  const custom_field_options = [...options('fb_1'), { name: 'Two', value: 'fb_2' }];
  await call(`POST ${ofObject}`, objectField({ key: 'grade', custom_field_options }));
  const shown = async () => (await call(`GET ${key === 'ticket_field' ? path : ofObject}`)).json;
  const before = key === 'ticket_field' ? (await shown()).ticket_field : (await shown()).custom_object_fields[0];
  const [, kept] = before.custom_field_options;
  const { json } = await call(`${method} ${path}`, {
    [key]: { custom_field_options: [{ name: 'x', value: kept.value }] },
  });
  expect(json[key].custom_field_options).toMatchObject([{ id: kept.id, name: 'x', value: kept.value }]);
});

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

  test('replaces the tag of a dropdown with its value, and clears the value with the tag', async () => {
    for (const sent of ['fb_grade_9', 'fb_grade_10']) await call(put, value(fields.dropdown, sent));
    expect(account.standin.ticket(41960)).toMatchObject({ tags: ['vip', 'fb_grade_10'] });
    await call(put, { ticket: { tags: ['other'] } });
    expect(account.standin.ticket(41960)).toMatchObject({ tags: ['other'], fields: { [fields.dropdown]: null } });
  });

  test('ignores unknown keys, and additional_tags outside update_many, and says so in a header', async () => {
    const { status, headers, json } = await call(put, { ticket: { additional_tags: ['x'], grade: 9 } });
    expect([status, json.ticket.tags, json.audit.events]).toEqual([200, ['vip'], []]);
    expect(headers.get('x-zendesk-api-warn')).toContain('["additional_tags","grade"]');
  });

  test.each<[what: string, isPublic: boolean, comment: object, shown: boolean, mails: number]>([
    ['mails a comment on a public ticket', true, {}, true, 1],
    ['keeps one on a private ticket private', false, {}, false, 0],
    ['keeps an internal note internal', true, { public: false }, false, 0],
  ])('%s', async (_what, isPublic, comment, shown, mails) => {
    account.standin.addTicket({ id: 5, requesterId: customer, isPublic });
    const { json } = await call('PUT /tickets/5', { ticket: { comment: { body: 'hi', ...comment } } });
    expect([json.audit.events[0].public, account.standin.ticket(5).mails]).toEqual([shown, mails]);
  });

  test.each<[what: string, role: 'admin' | 'agent', may: boolean, patch: object, status: number]>([
    ['a closed ticket', 'admin', false, { custom_fields: [] }, 422],
    ['a closed ticket that may be modified, by an admin', 'admin', true, { custom_fields: [] }, 200],
    ['its comments even there', 'admin', true, { comment: { body: 'x', public: false } }, 422],
    ['by an agent even there', 'agent', true, { custom_fields: [] }, 422],
  ])('%s: %s, %s, %j is %i', async (_what, apiRole, modifyClosedTickets, patch, status) => {
    await account.standin.close(41960);
    account.standin.changeSettings({ modifyClosedTickets, apiRole });
    expect((await call(put, { ticket: patch })).status).toBe(status);
  });

  test('fails alone in update_many', async () => {
    await account.standin.close(41960);
    account.standin.addTicket({ id: 5, requesterId: customer });
    const stale = { id: 5, safe_update: true, updated_stamp: '2020-01-01T00:00:00Z' };
    const tickets = [{ id: 41960, subject: 'a' }, { id: 5, additional_tags: ['t'] }, { id: 6, subject: 'c' }, stale];
    const { job_status } = (await call('PUT /tickets/update_many', { tickets })).json;
    expect(job_status).toMatchObject({ status: 'queued', total: 4, results: null });
    await account.standin.idle();
    const [done] = (await call(`GET /job_statuses/show_many?ids=${job_status.id}`)).json.job_statuses;
    expect(done).toMatchObject({
      status: 'completed',
      results: [
        { id: 41960, success: false, error: 'RecordInvalid', details: 'Status: closed prevents ticket update' },
        { id: 5, success: true, status: 'Updated' },
        { id: 6, success: false, error: 'RecordNotFound' },
        { id: 5, success: false, error: 'UpdateConflict' },
      ],
    });
  });
});
