import { beforeEach, describe, expect, test } from 'vitest';
import { fields, grant, type Reply, request, useAccount } from '../../../support/standins/zendesk/account.ts';

const account = useAccount();

const objects = '/api/v2/custom_objects';
const feedback = { key: 'feedback', title: 'Feedback', title_pluralized: 'Feedback records' };
const makeObject = (change: object = {}): Promise<Reply> =>
  account.call('POST', objects, { custom_object: { ...feedback, ...change } });
const makeField = (custom_object_field: object): Promise<Reply> =>
  account.call('POST', `${objects}/feedback/fields`, { custom_object_field });
const grade = {
  key: 'grade',
  title: 'Grade',
  type: 'dropdown',
  custom_field_options: [
    { name: 'One', value: '1' },
    { name: 'Two', value: '2' },
  ],
};

test('an admin makes an object and its fields, which agents see', async () => {
  expect((await makeObject()).status).toBe(201);
  const { status, json } = await makeField({ key: 'said', title: 'Said', type: 'textarea' });
  expect([status, json.custom_object_field]).toMatchObject([201, { key: 'said', type: 'textarea', active: true }]);
  account.standin.changeSettings({ apiRole: 'agent' });
  const listed = await account.call('GET', `${objects}/feedback/fields`);
  expect(listed.json.custom_object_fields).toEqual([json.custom_object_field]);
  expect((await account.call('GET', `${objects}/feedback`)).json.custom_object).toMatchObject({ key: 'feedback' });
});

test.each([
  ['POST', objects, { custom_object: feedback }],
  ['POST', `${objects}/feedback/fields`, { custom_object_field: grade }],
  ['PATCH', `${objects}/feedback/fields/grade`, { custom_object_field: { title: 'x' } }],
])('only admins may %s %s, and no scope but write lets them', async (method, path, body) => {
  if (path !== objects) await makeObject();
  await makeField(grade);
  const { json } = await request(`${account.url}/oauth/tokens`, 'POST', grant('read tickets:write users:write'));
  const authorization = `Bearer ${json.access_token}`;
  expect((await request(`${account.url}${path}`, method, body, { authorization })).status).toBe(403);
  account.standin.changeSettings({ apiRole: 'agent' });
  expect((await account.call(method, path, body)).status).toBe(403);
});

describe('it refuses', () => {
  beforeEach(async () => {
    await makeObject();
    await makeField(grade);
  });
  test.each<[name: string, status: number, call: () => Promise<Reply>]>([
    ['a second object of the same key', 422, () => makeObject()],
    ['an object without a plural', 400, () => makeObject({ key: 'other', title_pluralized: undefined })],
    ['an object whose key has other characters', 400, () => makeObject({ key: 'feed back' })],
    ['a second field of the same key', 422, () => makeField({ key: 'grade', title: 'Again' })],
    ['a field whose key is a number', 400, () => makeField({ key: '12', title: 'Twelve' })],
    ['a field without a title', 400, () => makeField({ key: 'said' })],
    ["a ticket's type", 400, () => makeField({ key: 'said', title: 'Said', type: 'tagger' })],
    ['a dropdown without options', 422, () => makeField({ ...grade, key: 'other', custom_field_options: [] })],
    ['to change the field of no object', 404, () => account.call('PATCH', `${objects}/none/fields/grade`, {})],
    ['to change no field', 404, () => account.call('PATCH', `${objects}/feedback/fields/none`, {})],
  ])('%s', async (_name, status, call) => {
    expect((await call()).status).toBe(status);
  });
});

test('it has room for as many objects as the plan says', async () => {
  account.standin.admin.settings.customObjects = 1;
  expect((await makeObject()).status).toBe(201);
  expect((await makeObject({ key: 'other' })).status).toBe(422);
});

test('an update takes options away that it does not name, and knows the others by their ids', async () => {
  await makeObject();
  const { custom_field_options: before } = (await makeField(grade)).json.custom_object_field;
  const change = {
    custom_field_options: [
      { id: before[1].id, name: 'Zwei', value: '2' },
      { name: 'Three', value: '3' },
    ],
  };
  const { json } = await account.call('PATCH', `${objects}/feedback/fields/grade`, { custom_object_field: change });
  expect(json.custom_object_field.custom_field_options).toMatchObject([
    { id: before[1].id, name: 'Zwei', value: '2', position: 0 },
    { name: 'Three', value: '3', position: 1 },
  ]);
});

test('placeholders are shown as what they stand for, beside the name as it was given', async () => {
  account.standin.admin.dynamicContent.set('one', 'Eins');
  await makeObject();
  const custom_field_options = [{ name: '{{dc.one}}!', value: '1' }];
  const { json } = await makeField({ ...grade, custom_field_options });
  expect(json.custom_object_field.custom_field_options).toMatchObject([{ name: 'Eins!', raw_name: '{{dc.one}}!' }]);
});

describe('a tag belongs to one field: it refuses', () => {
  const ticketField = (ticket_field: object) => account.call('POST', '/api/v2/ticket_fields.json', { ticket_field });
  const userField = (user_field: object) => account.call('POST', '/api/v2/user_fields.json', { user_field });
  const option = (path: string, value: string) =>
    account.call('POST', `/api/v2/${path}/options.json`, { custom_field_option: { name: 'x', value } });
  const nine = [{ name: 'Nine', value: 'fb_grade_9' }];
  beforeEach(() => {
    account.standin.addUserField({ key: 'tier', type: 'dropdown', options: [{ name: 'Gold', value: 'gold' }] });
  });
  test.each<[name: string, call: () => Promise<Reply>]>([
    ['a new dropdown with it', () => ticketField({ title: 'x', type: 'tagger', custom_field_options: nine })],
    [
      "a new dropdown of users with a ticket field's",
      () => userField({ key: 'x', title: 'x', type: 'dropdown', custom_field_options: nine }),
    ],
    ["an option with a multi-select's", () => option(`ticket_fields/${fields.dropdown}`, 'why_a')],
    ["an option with a checkbox's", () => option(`ticket_fields/${fields.dropdown}`, 'fb_asked')],
    ["an option with a user field's", () => option(`ticket_fields/${fields.dropdown}`, 'gold')],
    ["a user field's option, by its key, with a ticket field's", () => option('user_fields/tier', 'why_a')],
  ])('%s', async (_name, call) => {
    const { status, json } = await call();
    expect([status, json.details]).toMatchObject([422, { custom_field_options: [{ error: 'DuplicateValue' }] }]);
  });

  test('but for the records of custom objects, which have no tags', async () => {
    await makeObject();
    expect((await makeField({ ...grade, custom_field_options: nine })).status).toBe(201);
  });
});
