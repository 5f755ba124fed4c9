import { describe, expect, test } from 'vitest';
import { fields, type Reply, useAccount } from '../../../support/standins/zendesk/account.ts';

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
