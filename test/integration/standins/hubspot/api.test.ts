import { describe, expect, test } from 'vitest';
import { signV3 } from '../../../../standins/hubspot/webhooks.ts';
import { openAccount, readBody, ticketId, useAccount } from '../../../support/standins/hubspot/account.ts';

/* What HubSpot refuses or does in a way of its own, and the connector never provokes or could not tell from success. */

const account = useAccount();
const tickets = '/crm/objects/2026-09/tickets';
const many = (count: number) => Array.from({ length: count }, (_value, index) => index + 1);

test.each(['', 'Bearer nope', 'Basic aHVic3BvdC10b2tlbg=='])('it refuses "%s"', async (authorization) => {
  const { status, json } = await account.call('GET', `${tickets}/${ticketId}`, undefined, { authorization });
  expect([status, json]).toMatchObject([401, { status: 'error', category: 'INVALID_AUTHENTICATION' }]);
});

test.each<[path: string, status: number]>([
  [`/crm/objects/2026-03/tickets/${ticketId}`, 200],
  [`/crm/objects/2027-03/0-5/${ticketId}`, 200],
  [`/crm/v3/objects/tickets/${ticketId}`, 404],
  [`/crm/objects/v3/tickets/${ticketId}`, 404],
  ['/crm/objects/2026-09/gadgets/1', 404],
])('it knows only date versions and object types: %s is %i', async (path, status) => {
  expect((await account.call('GET', path)).status).toBe(status);
});

test('it refuses what is too much in any ten seconds, and serves again as they pass', async () => {
  const small = await openAccount({ now: account.now, rateLimit: { per10s: 2 } });
  const call = () => small.call('GET', `${tickets}/${ticketId}`);
  expect((await call()).headers.get('x-hubspot-ratelimit-remaining')).toBe('1');
  account.clock.now += 6_000;
  await call();
  const { status, headers, json } = await call();
  expect([status, json]).toMatchObject([429, { errorType: 'RATE_LIMIT', policyName: 'TEN_SECONDLY_ROLLING' }]);
  expect(headers.get('retry-after')).toBeNull();
  expect(headers.get('x-hubspot-ratelimit-interval-milliseconds')).toBe('10000');
  account.clock.now += 4_000;
  expect([(await call()).status, (await call()).status]).toEqual([200, 429]);
  await small.close();
});

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
    ['a body without both lists', read, { inputs: [{ id: '1' }], properties: [] }],
    ['an id twice', update, { inputs: [entry(ticketId), entry(ticketId)] }],
    ['more than 100 updates', update, { inputs: many(101).map((id) => entry(id)) }],
    ['idProperty hs_object_id', update, { inputs: [entry(ticketId, { idProperty: 'hs_object_id' })] }],
    ['more than 200 a page', `${tickets}/search`, search({ limit: 201 })],
    ['more than 10,000 results', `${tickets}/search`, search({ limit: 200, after: '9900' })],
    ['two sorts', `${tickets}/search`, search({ sorts: [sort, sort] })],
    ['seven filters in a group', `${tickets}/search`, groups(1, 7)],
    ['six groups', `${tickets}/search`, groups(6, 1)],
    ['nineteen filters', `${tickets}/search`, groups(4, 5)],
    ['an unknown property', `${tickets}/search`, filtered({ ...has, propertyName: 'nope' })],
    ['a body of more than 3,000 characters', `${tickets}/search`, search({ properties: ['x'.repeat(3_000)] })],
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
    const now = json.results?.find(({ id }: { id: string }) => id === String(ticketId)).properties;
    if (isTaken) expect(now).toMatchObject(kept);
    expect(account.standin.ticket(other.id).properties.fb_comment).toBe(isTaken ? 'good' : undefined);
  });

  test('a batch answers in no order, and is 207 with the rest for ids that are missing or deleted', async () => {
    const ids = many(50).map((id) => account.standin.addTicket({ id }).id);
    await account.standin.deleteRecord({ type: 'tickets', id: 50 });
    const { status, json } = await account.call('POST', read, readBody([...ids, 77]));
    const got = json.results.map((one: { id: string }) => Number(one.id));
    expect([status, json.numErrors, json.errors[0].context.ids]).toEqual([207, 1, ['50', '77']]);
    expect(got).not.toEqual(many(49));
    expect(got.toSorted((a: number, b: number) => a - b)).toEqual(many(49));
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
});

describe("a legacy app's webhook settings", () => {
  const app = '/webhooks/v3/3190457';
  const key = '?hapikey=hubspot-developer-key';
  const target = { targetUrl: 'https://closeloop.example.com/hooks', throttling: { maxConcurrentRequests: 10 } };
  /** Without the token that `account.call` always sends. */
  const call = (method: string, end: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    return fetch(`${account.url}${app}/${end}${key}`, { method, headers, body: JSON.stringify(body) });
  };
  const subscribe = (body: object) => call('POST', 'subscriptions', body);
  const change = { eventType: 'ticket.propertyChange', propertyName: 'subject' };

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
    await call('PUT', 'settings', target);
    await subscribe(change);
    expect((await subscribe(body)).status).toBe(status);
  });
});

test('it tries a delivery again signed afresh, with the attempt in the body and under the event of the first', async () => {
  let wall = Date.parse('2026-11-21T10:15:30Z');
  const got: [attempt: number, event: string, timestamp: string | null, isSigned: boolean][] = [];
  const hub = await openAccount({
    wallClock: () => new Date(wall),
    async fetch(_input, init) {
      const [headers, body] = [new Headers(init?.headers), String(init?.body)];
      const at = headers.get('x-hubspot-request-timestamp') ?? '';
      const v3 = signV3('hubspot-client-secret', 'POST', 'https://closeloop.example/hooks?x=a:b', body, at);
      const [{ attemptNumber, eventId }] = JSON.parse(body);
      got.push([attemptNumber, eventId, at, headers.get('x-hubspot-signature-v3') === v3]);
      wall += 60_000;
      return new Response(null, { status: got.length < 3 ? 500 : 200 });
    },
  });
  hub.standin.setWebhook({ url: 'https://closeloop.example/hooks?x=a%3Ab' });
  await hub.standin.close(ticketId);
  const event = got[0]?.[1];
  expect(got).toEqual([0, 1, 2].map((attempt) => [attempt, event, String(1_795_256_130_000 + attempt * 60_000), true]));
  await hub.close();
});

test('a search is taken five times a second, and of the calls of a day, which ends at midnight in the zone of the account', async () => {
  account.clock.now = Date.parse('2026-11-21T21:59:00Z');
  const small = await openAccount({ now: account.now, rateLimit: { daily: 6 } });
  const body = { filterGroups: [], sorts: [], properties: [], limit: 10, after: '' };
  const refusals: string[] = [];
  for (const ms of [0, 0, 0, 0, 0, 0, 1_000, 1_000, 120_000]) {
    account.clock.now += ms;
    refusals.push((await small.call('POST', `${tickets}/search`, body)).json.policyName);
  }
  const none = undefined;
  expect(refusals).toEqual([none, none, none, none, none, 'SECONDLY', none, 'DAILY', none]);
  await small.close();
});
