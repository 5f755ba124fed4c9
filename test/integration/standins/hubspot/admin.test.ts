import { describe, expect, test } from 'vitest';
import { type Reply, useAccount } from '../../../support/standins/hubspot/account.ts';

const account = useAccount();

const tickets = '/crm/properties/2026-09/tickets';
const definition = { label: 'Mood', type: 'enumeration', fieldType: 'select', groupName: 'ticketinformation' };
const option = (value: string, displayOrder = 0) => ({ label: value, value, displayOrder, hidden: false });

describe('properties', () => {
  test('a deleted property is listed apart, and comes back with what it was by creating one of its name', async () => {
    expect(
      (await account.call('POST', tickets, { name: 'mood', ...definition, options: [option('good')] })).status,
    ).toBe(201);
    account.standin.archiveProperty({ type: 'tickets', name: 'mood' });
    const names = async (query = '') =>
      (await account.call('GET', tickets + query)).json.results.map(({ name }: { name: string }) => name);
    expect(await names()).not.toContain('mood');
    expect(await names('?archived=true')).toEqual(['mood']);

    const text = { name: 'mood', label: 'Mood', type: 'string', fieldType: 'text', groupName: 'ticketinformation' };
    const revived = await account.call('POST', tickets, text);
    expect([revived.status, revived.json.type, revived.json.options]).toEqual([201, 'enumeration', [option('good')]]);
    expect(await names('?archived=true')).toEqual([]);
    expect((await account.call('POST', tickets, text)).status).toBe(409);
  });

  test('a change replaces the whole list of options, and only what is given', async () => {
    await account.call('POST', tickets, { name: 'mood', ...definition, options: [option('good'), option('bad', 1)] });
    const changed = await account.call('PATCH', `${tickets}/mood`, { options: [option('fair')] });
    expect([changed.status, changed.json.label, changed.json.options]).toEqual([200, 'Mood', [option('fair')]]);
  });

  test.each<[why: string, path: string, body: object, status: number]>([
    ['a property that is not there', 'absent', { label: 'X' }, 404],
    ["HubSpot's own property", 'subject', { label: 'X' }, 400],
    ['a type that does not fit the field', 'fb_grade', { type: 'bool' }, 400],
    ['a group that is not there', 'fb_grade', { groupName: 'absent' }, 400],
    ['an option without its display order', 'fb_status', { options: [{ label: 'a', value: 'a', hidden: false }] }, 400],
    ['two options of one value', 'fb_status', { options: [option('a'), option('a', 1)] }, 400],
  ])('a change is refused to %s', async (_why, name, body, status) => {
    expect((await account.call('PATCH', `${tickets}/${name}`, body)).status).toBe(status);
  });

  test('changing one takes the scope of the schema, not of the records', async () => {
    account.standin.changeSettings({ scopes: ['crm.objects.deals.read', 'crm.objects.deals.write'] });
    const refused = await account.call('PATCH', '/crm/properties/2026-09/deals/x', { label: 'X' });
    expect([refused.status, refused.json.category]).toEqual([403, 'MISSING_SCOPES']);
  });

  test('what HubSpot calculates takes no value', async () => {
    account.standin.addProperty({ type: 'tickets', name: 'sum', kind: 'number', calculated: true });
    const [ticket] = account.standin.records().filter(({ type }) => type === 'tickets');
    const path = `/crm/objects/2026-09/tickets/${ticket?.id}`;
    expect((await account.call('PATCH', path, { properties: { sum: '1' } })).json.message).toContain('READ_ONLY_VALUE');
  });
});

describe("a legacy app's webhook settings", () => {
  const app = '/webhooks/v3/3190457';
  const key = '?hapikey=hubspot-developer-key';
  /** Without the token that `account.call` always sends. */
  const call = async (method: string, path: string, body?: object): Promise<Reply> => {
    const response = await fetch(account.url + path, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, json: await response.json() };
  };
  const target = { targetUrl: 'https://closeloop.example.com/hooks', throttling: { maxConcurrentRequests: 10 } };
  const subscribe = (body: object) => call('POST', `${app}/subscriptions${key}`, body);

  test('need the developer key, the right app, and no token beside it', async () => {
    expect((await call('GET', `${app}/settings?hapikey=another`)).status).toBe(401);
    expect((await call('GET', `${app}/settings`)).status).toBe(401);
    expect((await account.call('GET', `${app}/settings${key}`)).status).toBe(401);
    expect((await call('GET', `/webhooks/v3/7/settings${key}`)).status).toBe(404);
  });

  test('have no target at first, and one after it is set', async () => {
    expect((await call('GET', `${app}/settings${key}`)).status).toBe(404);
    expect((await subscribe({ eventType: 'ticket.creation' })).status).toBe(404);
    expect((await call('PUT', `${app}/settings${key}`, target)).status).toBe(200);
    expect((await call('GET', `${app}/settings${key}`)).json.targetUrl).toBe(target.targetUrl);
    const http = { ...target, targetUrl: 'http://closeloop.example.com/hooks' };
    expect((await call('PUT', `${app}/settings${key}`, http)).status).toBe(400);
    expect(
      (await call('PUT', `${app}/settings${key}`, { ...target, throttling: { maxConcurrentRequests: 5 } })).status,
    ).toBe(400);
  });

  test('take each subscription once, classic and generic apart', async () => {
    await call('PUT', `${app}/settings${key}`, target);
    const stage = { eventType: 'ticket.propertyChange', propertyName: 'hs_pipeline_stage', active: true };
    expect((await subscribe(stage)).status).toBe(201);
    expect((await subscribe(stage)).status).toBe(409);
    expect((await subscribe({ ...stage, eventType: 'object.propertyChange', objectTypeId: '0-5' })).status).toBe(201);
    expect((await call('GET', `${app}/subscriptions${key}`)).json.results).toMatchObject([
      { eventType: 'ticket.propertyChange', propertyName: 'hs_pipeline_stage', active: true },
      { eventType: 'object.propertyChange', objectTypeId: '0-5', propertyName: 'hs_pipeline_stage', active: true },
    ]);
  });

  test.each([
    [{ eventType: 'ticket.closing' }],
    [{ eventType: 'ticket.propertyChange' }],
    [{ eventType: 'ticket.creation', propertyName: 'subject' }],
    [{ eventType: 'ticket.propertyChange', propertyName: 'hs_lastmodifieddate' }],
    [{ eventType: 'object.creation' }],
    [{ eventType: 'object.privacyDeletion', objectTypeId: '0-1' }],
  ])('refuse %o', async (body) => {
    await call('PUT', `${app}/settings${key}`, target);
    expect((await subscribe(body)).status).toBe(400);
  });

  test('are what deliveries follow: a paused subscription delivers nothing', async () => {
    await call('PUT', `${app}/settings${key}`, { ...target, targetUrl: 'http://127.0.0.1:9/hooks' });
    const { json } = await subscribe({ eventType: 'ticket.propertyChange', propertyName: 'subject' });
    const [ticket] = account.standin.records().filter(({ type }) => type === 'tickets');
    const rename = (subject: string) =>
      account.standin.change({ type: 'tickets', id: ticket?.id ?? 0, properties: { subject } });
    expect(await rename('one')).toEqual([]);
    expect((await call('PATCH', `${app}/subscriptions/${json.id}${key}`, { active: true })).status).toBe(200);
    expect(await rename('two')).toHaveLength(1);
  });
});

describe('the account', () => {
  test('tells whose token it is, to the token itself only', async () => {
    const path = '/oauth/v2/private-apps/get/access-token-info';
    expect((await account.call('POST', path, { tokenKey: 'hubspot-token' })).json).toMatchObject({
      appId: 3_190_457,
      hubId: 48_211_907,
    });
    expect((await account.call('POST', path, { tokenKey: 'another' })).status).toBe(404);
  });

  test('lists the labels of contacts', async () => {
    account.standin.addLabel({ type: 'tickets', typeId: 71, label: 'Reporter' });
    const { json } = await account.call('GET', '/crm/associations/2026-09/tickets/contacts/labels');
    expect(json.results).toEqual([
      { category: 'HUBSPOT_DEFINED', typeId: 16, label: null },
      { category: 'USER_DEFINED', typeId: 71, label: 'Reporter' },
    ]);
  });

  test('counts answers to its own surveys since a time', async () => {
    account.standin.addFeedback({ at: '2026-11-20T00:00:00Z' });
    account.standin.addFeedback({ at: '2026-01-20T00:00:00Z' });
    const value = String(Date.parse('2026-10-01T00:00:00Z'));
    const body = {
      filterGroups: [{ filters: [{ propertyName: 'hs_createdate', operator: 'GTE', value }] }],
      sorts: [],
      properties: [],
      limit: 1,
      after: 0,
    };
    const path = '/crm/objects/2026-09/feedback_submissions/search';
    expect((await account.call('POST', path, body)).json.total).toBe(1);
    account.standin.changeSettings({ scopes: ['crm.objects.contacts.read'] });
    expect((await account.call('POST', path, body)).status).toBe(403);
  });
});
