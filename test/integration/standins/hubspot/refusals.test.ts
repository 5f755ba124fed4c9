import { describe, expect, test } from 'vitest';
import { contactId, type Reply, readBody, ticketId, useAccount } from '../../../support/standins/hubspot/account.ts';

/* What HubSpot refuses or does in a way of its own, and the connector never provokes or could not tell from success. */

const account = useAccount();
const tickets = '/crm/objects/2026-09/tickets';
const many = (count: number) => Array.from({ length: count }, (_value, index) => index + 1);
const write = (properties: object) => account.call('PATCH', `${tickets}/${ticketId}`, { properties });

describe('records', () => {
  const read = `${tickets}/batch/read`;
  const update = `${tickets}/batch/update`;
  const entry = (id: number | string, more: object = {}) => ({ id: String(id), properties: {}, ...more });
  const search = (more: object) => ({ filterGroups: [], sorts: [], properties: [], limit: 10, after: '', ...more });
  const has = { propertyName: 'subject', operator: 'HAS_PROPERTY' };
  const filtered = (...filters: object[]) => search({ filterGroups: [{ filters }] });
  const groups = (count: number, filters: number) =>
    search({ filterGroups: Array(count).fill({ filters: Array(filters).fill(has) }) });
  const sort = { propertyName: 'subject', direction: 'ASCENDING' };
  const history = { propertiesWithHistory: ['subject'] };

  test.each<[what: string, path: string, body: object, status?: number]>([
    ['100 ids are taken', read, readBody(many(100)), 207],
    ['50 ids with history are taken', read, readBody(many(50), history), 207],
    ['more than 100 ids', read, readBody(many(101))],
    ['more than 50 ids with history', read, readBody(many(51), history)],
    ['ids that are numbers', read, { inputs: [{ id: 1 }], properties: [], propertiesWithHistory: [] }],
    ['a body without both lists', read, { inputs: [{ id: '1' }], properties: [] }],
    ['no ids', read, readBody([])],
    ['an id twice', update, { inputs: [entry(ticketId), entry(ticketId)] }],
    ['more than 100 updates', update, { inputs: many(101).map((id) => entry(id)) }],
    ['idProperty hs_object_id', update, { inputs: [entry(ticketId, { idProperty: 'hs_object_id' })] }],
    ['more than 200 a page', `${tickets}/search`, search({ limit: 201 })],
    ['more than 10,000 results', `${tickets}/search`, search({ limit: 200, after: '9900' })],
    ['two sorts', `${tickets}/search`, search({ sorts: [sort, sort] })],
    ['seven filters in a group', `${tickets}/search`, groups(1, 7)],
    ['six groups', `${tickets}/search`, groups(6, 1)],
    ['nineteen filters', `${tickets}/search`, groups(4, 5)],
    ['an unknown operator', `${tickets}/search`, filtered({ ...has, operator: 'LIKE' })],
    ['an unknown property', `${tickets}/search`, filtered({ ...has, propertyName: 'nope' })],
    ['a body of more than 3,000 characters', `${tickets}/search`, search({ properties: ['x'.repeat(3_000)] })],
    ['a missing key', `${tickets}/search`, search({ sorts: undefined })],
  ])('%s', async (_what, path, body, status = 400) => {
    const reply = await account.call('POST', path, body);
    expect([reply.status, reply.json.category]).toEqual([status, status === 400 ? 'VALIDATION_ERROR' : undefined]);
  });

  test.each<[sent: Record<string, unknown>, kept: Record<string, unknown> | string | undefined]>([
    [{ fb_grade: '8.5' }, { fb_grade: '8.5' }],
    [{ fb_grade: '' }, { fb_grade: null }],
    [{ fb_at: '1795176000000' }, { fb_at: '2026-11-20T12:00:00.000Z' }],
    [{ fb_at: '2026-11-20T14:00:00+02:00' }, { fb_at: '2026-11-20T12:00:00.000Z' }],
    [{ fb_day: '1795132800000' }, { fb_day: '2026-11-20' }],
    [{ fb_comment: 'x'.repeat(65_536) }, { fb_comment: 'x'.repeat(65_536) }],
    [{ fb_grade: 9 }, undefined],
    [{ fb_grade: null }, undefined],
    [{ fb_grade: 'nine' }, 'INVALID_LONG'],
    [{ fb_status: 'Answered' }, 'INVALID_OPTION'],
    [{ hs_pipeline_stage: '77' }, 'INVALID_OPTION'],
    [{ hubspot_owner_id: '77' }, 'INVALID_OPTION'],
    [{ fb_at: '2026-11-20T12:00:00' }, 'INVALID_DATE'],
    [{ fb_day: '1795176000000' }, 'INVALID_DATE'],
    [{ fb_nothing: 'x' }, 'PROPERTY_DOESNT_EXIST'],
    [{ fb_locked: 'x' }, 'READ_ONLY_VALUE'],
    [{ sum: '1' }, 'READ_ONLY_VALUE'],
  ])('an update with %j: %j, for the whole batch', async (properties, kept) => {
    account.standin.addProperty({ type: 'tickets', name: 'sum', kind: 'number', calculated: true });
    const other = account.standin.addTicket();
    const inputs = [entry(other.id, { properties: { fb_comment: 'good' } }), entry(ticketId, { properties })];
    const { status, json } = await account.call('POST', update, { inputs });
    const isTaken = typeof kept === 'object';
    expect([status, json.errors?.[0].code]).toEqual(isTaken ? [200, undefined] : [400, kept]);
    if (isTaken) expect(account.standin.ticket(ticketId).properties).toMatchObject(clearedOf(kept));
    expect(account.standin.ticket(other.id).properties.fb_comment).toBe(isTaken ? 'good' : undefined);
  });
  const clearedOf = (kept: object) =>
    Object.fromEntries(
      Object.entries(kept).map(([name, value]) => [name, value ?? expect.toSatisfy((v) => v == null)]),
    );

  test('a batch answers in no order, and is 207 with the rest for ids that are missing or deleted', async () => {
    const ids = many(50).map((id) => account.standin.addTicket({ id }).id);
    await account.standin.deleteRecord({ type: 'tickets', id: 50 });
    const { status, json } = await account.call('POST', read, readBody([...ids, 77]));
    const got = json.results.map((one: { id: string }) => Number(one.id));
    expect([status, json.numErrors, json.errors[0].context.ids]).toEqual([207, 1, ['50', '77']]);
    expect(got).not.toEqual(many(49));
    expect(got.toSorted((a: number, b: number) => a - b)).toEqual(many(49));
  });

  test("an admin's rule, a wrong type of body and a date of the last change are as HubSpot has them", async () => {
    account.clock.now += 5000;
    const date = { hs_lastmodifieddate: '2026-11-21T10:00:05.000Z' };
    expect((await write({ fb_grade: '9' })).json.properties).toMatchObject(date);
    const text = { 'content-type': 'text/plain' };
    expect((await account.call('PATCH', `${tickets}/${ticketId}`, { properties: {} }, text)).status).toBe(415);
    account.standin.changeSettings({ requiredOnWrite: 'hs_resolution' });
    const { status, json } = await write({ fb_grade: '9' });
    expect([status, json.errors[0].code]).toEqual([400, 'MISSING_CONDITIONAL_REQUIRED_PROPERTY']);
  });

  test('a merged record is read under both ids, and its associations under the new one only', async () => {
    const { standin } = account;
    const other = standin.addTicket();
    const { id } = standin.merge({ type: 'tickets', primary: ticketId, merged: [other.id] });
    const { json } = await account.call('POST', read, readBody([ticketId, other.id]));
    expect(json.results.map((one: { id: string }) => one.id)).toEqual([String(id)]);
    const associations = '/crm/associations/2026-09/tickets/contacts/batch/read';
    const inputs = [ticketId, id].map((one) => ({ id: String(one) }));
    const found = await account.call('POST', associations, { inputs });
    expect([found.status, found.json.results.length]).toEqual([207, 1]);
    expect(found.json.errors).toMatchObject([{ subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND' }]);
    await standin.deleteRecord({ type: 'contacts', id: contactId });
    expect((await account.call('POST', associations, { inputs })).json.results).toEqual([]);
  });
});

describe('properties', () => {
  const path = '/crm/properties/2026-09/tickets';
  const text = { name: 'mood', label: 'Mood', type: 'string', fieldType: 'text', groupName: 'ticketinformation' };
  const option = (value: string, displayOrder = 0) => ({ label: value, value, displayOrder, hidden: false });
  const withoutOrder = { label: 'a', value: 'a', hidden: false };

  test.each<[what: string, call: string, body: object, status: number]>([
    ['to change what is not there', 'PATCH /absent', { label: 'X' }, 404],
    ["to change HubSpot's own", 'PATCH /subject', { label: 'X' }, 400],
    ['a type that does not fit the field', 'PATCH /fb_grade', { type: 'bool' }, 400],
    ['to move it to no group', 'PATCH /fb_grade', { groupName: 'absent' }, 400],
    ['an option without its order', 'PATCH /fb_status', { options: [withoutOrder] }, 400],
    ['two options of one value', 'PATCH /fb_status', { options: [option('a'), option('a', 1)] }, 400],
    ['one in no group', 'POST ', { ...text, groupName: 'absent' }, 400],
    ['a name with capitals', 'POST ', { ...text, name: 'Mood' }, 400],
    ['a field that does not fit the type', 'POST ', { ...text, fieldType: 'select' }, 400],
    ['one that is there', 'POST ', { ...text, name: 'fb_comment' }, 409],
    ['a group that is there', 'POST /groups', { name: 'ticketinformation', label: 'X' }, 409],
  ])('it refuses %s', async (_what, call, body, status) => {
    const [method = '', end = ''] = call.split(' ');
    expect((await account.call(method, path + end, body)).status).toBe(status);
  });

  test('a change replaces all options; a deleted one comes back as it was by creating one of its name', async () => {
    const options = [option('good'), option('bad', 1)];
    await account.call('POST', path, { ...text, type: 'enumeration', fieldType: 'select', options });
    const changed = await account.call('PATCH', `${path}/mood`, { options: [option('fair')] });
    expect([changed.json.label, changed.json.options]).toEqual(['Mood', [option('fair')]]);
    account.standin.archiveProperty({ type: 'tickets', name: 'mood' });
    const names = async (query = '') =>
      (await account.call('GET', path + query)).json.results.map(({ name }: { name: string }) => name);
    expect([(await names()).includes('mood'), await names('?archived=true')]).toEqual([false, ['mood']]);
    const { status, json } = await account.call('POST', path, text);
    expect([status, json.type, json.options]).toEqual([201, 'enumeration', [option('fair')]]);
  });
});

describe("a legacy app's webhook settings", () => {
  const app = '/webhooks/v3/3190457';
  const key = '?hapikey=hubspot-developer-key';
  const target = { targetUrl: 'https://closeloop.example.com/hooks', throttling: { maxConcurrentRequests: 10 } };
  /** Without the token that `account.call` always sends. */
  const call = async (method: string, path: string, body?: object): Promise<Reply> => {
    const headers = { 'content-type': 'application/json' };
    const sent = body && { headers, body: JSON.stringify(body) };
    const response = await fetch(account.url + path, { method, ...sent });
    return { status: response.status, headers: response.headers, json: await response.json() };
  };
  const set = (more: object = {}) => call('PUT', `${app}/settings${key}`, { ...target, ...more });
  const subscribe = (body: object) => call('POST', `${app}/subscriptions${key}`, body);
  const change = { eventType: 'ticket.propertyChange', propertyName: 'subject' };

  test('need the developer key, the right app, no token beside it, and a target', async () => {
    const replies = [
      await call('GET', `${app}/settings?hapikey=another`),
      await call('GET', `${app}/settings`),
      await account.call('GET', `${app}/settings${key}`),
      await call('GET', `/webhooks/v3/7/settings${key}`),
      await call('GET', `${app}/settings${key}`),
      await subscribe(change),
      await set({ targetUrl: 'http://closeloop.example.com/hooks' }),
      await set({ throttling: { maxConcurrentRequests: 5 } }),
      await set(),
    ];
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 404, 404, 404, 400, 400, 200]);
  });

  test.each<[body: object, status: number]>([
    [{ ...change, eventType: 'object.propertyChange', objectTypeId: '0-5' }, 201],
    [change, 409],
    [{ eventType: 'ticket.closing' }, 400],
    [{ eventType: 'ticket.propertyChange' }, 400],
    [{ eventType: 'ticket.creation', propertyName: 'subject' }, 400],
    [{ ...change, propertyName: 'hs_lastmodifieddate' }, 400],
    [{ eventType: 'object.creation' }, 400],
    [{ eventType: 'object.privacyDeletion', objectTypeId: '0-1' }, 400],
  ])('take %o beside another: %i', async (body, status) => {
    await set();
    await subscribe(change);
    expect((await subscribe(body)).status).toBe(status);
  });

  test('are what deliveries follow: a subscription is paused at first, and delivers nothing', async () => {
    await set({ targetUrl: 'http://127.0.0.1:9/hooks' });
    const { json } = await subscribe(change);
    const rename = (subject: string) =>
      account.standin.change({ type: 'tickets', id: ticketId, properties: { subject } });
    expect(await rename('one')).toEqual([]);
    expect((await call('PATCH', `${app}/subscriptions/${json.id}${key}`, { active: true })).status).toBe(200);
    expect(await rename('two')).toHaveLength(1);
  });
});

test('what a token is, is told to the token itself only', async () => {
  const ask = (tokenKey: string) => account.call('POST', '/oauth/v2/private-apps/get/access-token-info', { tokenKey });
  expect((await ask('hubspot-token')).json).toMatchObject({ appId: 3_190_457, hubId: 48_211_907 });
  expect((await ask('another')).status).toBe(404);
});
