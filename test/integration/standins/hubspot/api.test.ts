import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Account, contactId, dealId, openAccount, ticketId } from '../../../support/standins/hubspot/account.ts';

let now = 0;
let account: Account;

beforeEach(async () => {
  now = Date.parse('2026-11-21T10:00:00Z');
  account = await openAccount({ now: () => new Date(now) });
});
afterEach(() => account.close());

const tickets = '/crm/objects/2026-09/tickets';
const readBody = (ids: number[], more: object = {}) => ({
  inputs: ids.map((id) => ({ id: String(id) })),
  properties: [],
  propertiesWithHistory: [],
  ...more,
});
const updateBody = (properties: Record<string, unknown>, id: number | string = ticketId) => ({
  inputs: [{ id: String(id), properties }],
});
const many = (count: number) => Array.from({ length: count }, (_value, index) => index + 1);

describe('access', () => {
  const refusals: [name: string, headers: Record<string, string>, status: number, category: string][] = [
    ['refuses a caller without a token', { authorization: '' }, 401, 'INVALID_AUTHENTICATION'],
    ['refuses an unknown token', { authorization: 'Bearer nope' }, 401, 'INVALID_AUTHENTICATION'],
    ['refuses Basic', { authorization: 'Basic aHVic3BvdC10b2tlbg==' }, 401, 'INVALID_AUTHENTICATION'],
  ];
  test.each(refusals)('it %s', async (_name, headers, status, category) => {
    const reply = await account.call('GET', `${tickets}/${ticketId}`, undefined, headers);
    expect([reply.status, reply.json]).toEqual([
      status,
      expect.objectContaining({ status: 'error', category, correlationId: expect.any(String) }),
    ]);
  });

  const scopes: [name: string, scopes: string[], method: string, path: string, status: number][] = [
    ['lets `tickets` read tickets', ['tickets'], 'GET', `${tickets}/${ticketId}`, 200],
    ['lets `tickets` read ticket pipelines', ['tickets'], 'GET', '/crm/pipelines/2026-09/tickets', 200],
    ['does not let `tickets` read contacts', ['tickets'], 'GET', `/crm/objects/2026-09/contacts/${contactId}`, 403],
    ['does not let `tickets` read owners', ['tickets'], 'GET', '/crm/owners/2026-09', 403],
    [
      'does not let reading deals write them',
      ['crm.objects.deals.read'],
      'PATCH',
      `/crm/objects/2026-09/deals/${dealId}`,
      403,
    ],
    ['wants oauth for the account details', ['tickets'], 'GET', '/account-info/2026-09/details', 403],
  ];
  test.each(scopes)('it %s', async (_name, granted, method, path, status) => {
    account.standin.changeSettings({ scopes: granted });
    const reply = await account.call(method, path, method === 'PATCH' ? { properties: {} } : undefined);
    expect(reply.status).toBe(status);
    if (status === 403) expect(reply.json.category).toBe('MISSING_SCOPES');
  });

  const versions: [path: string, status: number][] = [
    [`/crm/objects/2026-03/tickets/${ticketId}`, 200],
    [`/crm/objects/2027-03/0-5/${ticketId}`, 200],
    [`/crm/v3/objects/tickets/${ticketId}`, 404],
    [`/crm/objects/v3/tickets/${ticketId}`, 404],
    ['/crm/objects/2026-09/gadgets/1', 404],
  ];
  test.each(versions)('it knows only date versions and object types: %s is %i', async (path, status) => {
    expect((await account.call('GET', path)).status).toBe(status);
  });
});

describe('batch read', () => {
  test('it gives text, null for what is unset, and nothing for what is no property', async () => {
    const { status, json } = await account.call(
      'POST',
      `${tickets}/batch/read`,
      readBody([ticketId], { properties: ['subject', 'fb_grade', 'no_such'] }),
    );
    expect([status, json.status, json.numErrors, json.results[0].id]).toEqual([
      200,
      'COMPLETE',
      undefined,
      String(ticketId),
    ]);
    expect(json.results[0].properties).toEqual({
      subject: 'Printer',
      fb_grade: null,
      createdate: '2026-11-21T10:00:00.000Z',
      hs_lastmodifieddate: '2026-11-21T10:00:00.000Z',
      hs_object_id: String(ticketId),
    });
  });

  test('it gives the history of a stage', async () => {
    now += 1000;
    await account.standin.close(ticketId);
    const { json } = await account.call(
      'POST',
      `${tickets}/batch/read`,
      readBody([ticketId], { propertiesWithHistory: ['hs_pipeline_stage'] }),
    );
    const history: { value: string; timestamp: string }[] = json.results[0].propertiesWithHistory.hs_pipeline_stage;
    expect(history.map(({ value, timestamp }) => [value, timestamp]).sort()).toEqual([
      ['1', '2026-11-21T10:00:00.000Z'],
      ['4', '2026-11-21T10:00:01.000Z'],
    ]);
    expect(history[0]).toMatchObject({
      sourceType: 'CRM_UI',
      sourceId: 'userId:98499705',
      updatedByUserId: 98_499_705,
    });
  });

  test('it answers 207 for missing and deleted ids, with the rest', async () => {
    const gone = account.standin.addTicket();
    await account.standin.deleteRecord({ type: 'tickets', id: gone.id });
    const { status, json } = await account.call('POST', `${tickets}/batch/read`, readBody([ticketId, 5, gone.id]));
    expect([status, json.results.length, json.numErrors]).toEqual([207, 1, 1]);
    expect(json.errors).toEqual([
      expect.objectContaining({ category: 'OBJECT_NOT_FOUND', context: { ids: ['5', String(gone.id)] } }),
    ]);
  });

  test('it gives the new record for ids that were merged away', async () => {
    const other = account.standin.addTicket();
    const { id } = account.standin.merge({ type: 'tickets', primary: ticketId, merged: [other.id] });
    const { status, json } = await account.call('POST', `${tickets}/batch/read`, readBody([ticketId, other.id]));
    expect([status, json.results.map((one: { id: string }) => one.id)]).toEqual([200, [String(id)]]);
    expect((await account.call('GET', `${tickets}/${ticketId}`)).json.id).toBe(String(id));
  });

  test('it promises no order', async () => {
    const ids = many(50).map((id) => account.standin.addTicket({ id }).id);
    const { json } = await account.call('POST', `${tickets}/batch/read`, readBody(ids));
    const got = json.results.map((one: { id: string }) => Number(one.id));
    expect(got).not.toEqual(ids);
    expect(got.toSorted((a: number, b: number) => a - b)).toEqual(ids);
  });

  const refusals: [name: string, body: object][] = [
    ['more than 100 ids', readBody(many(101))],
    ['more than 50 ids with history', readBody(many(51), { propertiesWithHistory: ['hs_pipeline_stage'] })],
    ['ids that are numbers', { inputs: [{ id: 1 }], properties: [], propertiesWithHistory: [] }],
    ['a body without both lists', { inputs: [{ id: '1' }], properties: [] }],
    ['no ids', readBody([])],
  ];
  test.each(refusals)('it refuses %s', async (_name, body) => {
    const reply = await account.call('POST', `${tickets}/batch/read`, body);
    expect([reply.status, reply.json.category]).toEqual([400, 'VALIDATION_ERROR']);
  });

  test('it takes 100 ids, and 50 with history', async () => {
    expect((await account.call('POST', `${tickets}/batch/read`, readBody(many(100)))).status).toBe(207);
    expect(
      (await account.call('POST', `${tickets}/batch/read`, readBody(many(50), { propertiesWithHistory: ['subject'] })))
        .status,
    ).toBe(207);
  });
});

describe('batch update', () => {
  const values: [name: string, sent: Record<string, string>, kept: Record<string, string | null>][] = [
    ['takes a number', { fb_grade: '9' }, { fb_grade: '9' }],
    ['takes a decimal', { fb_grade: '8.5' }, { fb_grade: '8.5' }],
    ['clears with an empty text', { fb_grade: '' }, { fb_grade: null }],
    ['takes an option', { fb_status: 'answered' }, { fb_status: 'answered' }],
    ['takes an instant in epoch ms', { fb_at: '1795176000000' }, { fb_at: '2026-11-20T12:00:00.000Z' }],
    ['takes an instant in ISO 8601', { fb_at: '2026-11-20T14:00:00+02:00' }, { fb_at: '2026-11-20T12:00:00.000Z' }],
    ['takes a day at midnight UTC', { fb_day: '1795132800000' }, { fb_day: '2026-11-20' }],
    ['takes 65,536 characters', { fb_comment: 'x'.repeat(65_536) }, { fb_comment: 'x'.repeat(65_536) }],
  ];
  test.each(values)('it %s', async (_name, sent, kept) => {
    const { status, json } = await account.call('POST', `${tickets}/batch/update`, updateBody(sent));
    expect([status, json.results[0].properties]).toEqual([200, expect.objectContaining(kept)]);
  });

  const refusals: [name: string, sent: Record<string, unknown>, code: string | undefined][] = [
    ['a number that is no text', { fb_grade: 9 }, undefined],
    ['null', { fb_grade: null }, undefined],
    ['a word for a number', { fb_grade: 'nine' }, 'INVALID_LONG'],
    ['an option in other case', { fb_status: 'Answered' }, 'INVALID_OPTION'],
    ['a stage that does not exist', { hs_pipeline_stage: '77' }, 'INVALID_OPTION'],
    ['an instant without a zone', { fb_at: '2026-11-20T12:00:00' }, 'INVALID_DATE'],
    ['a day that is not midnight', { fb_day: '1795176000000' }, 'INVALID_DATE'],
    ['a property that does not exist', { fb_nothing: 'x' }, 'PROPERTY_DOESNT_EXIST'],
    ['a read-only property', { fb_locked: 'x' }, 'READ_ONLY_VALUE'],
  ];
  test.each(refusals)('it refuses the whole batch for %s', async (_name, sent, code) => {
    const other = account.standin.addTicket();
    const inputs = [{ id: String(other.id), properties: { fb_comment: 'good' } }, ...updateBody(sent).inputs];
    const reply = await account.call('POST', `${tickets}/batch/update`, { inputs });
    expect([reply.status, reply.json.category, reply.json.errors?.[0].code]).toEqual([400, 'VALIDATION_ERROR', code]);
    expect(account.standin.ticket(other.id).properties.fb_comment).toBeUndefined();
    if (code !== undefined) expect(reply.json.message).toMatch(/^Property values were not valid: \[\{"isValid":false/);
  });

  test('it fails an unknown id alone, with 207', async () => {
    const inputs = [...updateBody({ fb_grade: '9' }).inputs, ...updateBody({ fb_grade: '9' }, 5).inputs];
    const { status, json } = await account.call('POST', `${tickets}/batch/update`, { inputs });
    expect([
      status,
      json.numErrors,
      json.errors[0].context.ids,
      account.standin.ticket(ticketId).properties.fb_grade,
    ]).toEqual([207, 1, ['5'], '9']);
  });

  const malformed: [name: string, inputs: object[]][] = [
    ['an id twice', [...updateBody({}).inputs, ...updateBody({}).inputs]],
    ['more than 100', many(101).flatMap((id) => updateBody({}, id).inputs)],
    ['idProperty hs_object_id', [{ id: String(ticketId), idProperty: 'hs_object_id', properties: {} }]],
  ];
  test.each(malformed)('it refuses %s', async (_name, inputs) => {
    expect((await account.call('POST', `${tickets}/batch/update`, { inputs })).status).toBe(400);
  });

  test("it enforces an admin's rule on writes of other fields", async () => {
    account.standin.changeSettings({ requiredOnWrite: 'hs_resolution' });
    const reply = await account.call('PATCH', `${tickets}/${ticketId}`, { properties: { fb_grade: '9' } });
    expect([reply.status, reply.json.errors[0].code]).toEqual([400, 'MISSING_CONDITIONAL_REQUIRED_PROPERTY']);
  });

  test('it bumps the date of the last change with any write', async () => {
    now += 5000;
    const { json } = await account.call('PATCH', `${tickets}/${ticketId}`, { properties: { fb_grade: '9' } });
    expect(json.properties).toMatchObject({ fb_grade: '9', hs_lastmodifieddate: '2026-11-21T10:00:05.000Z' });
  });

  test('it wants JSON announced as such', async () => {
    expect(
      (await account.call('PATCH', `${tickets}/${ticketId}`, { properties: {} }, { 'content-type': 'text/plain' }))
        .status,
    ).toBe(415);
  });
});

describe('a single record', () => {
  test('it comes with its contacts when asked, and 404 when deleted unless archived ones are asked for', async () => {
    const { json } = await account.call('GET', `${tickets}/${ticketId}?properties=subject&associations=contacts`);
    expect(json.associations.contacts.results).toEqual([{ id: String(contactId), type: 'ticket_to_contact' }]);
    await account.standin.deleteRecord({ type: 'tickets', id: ticketId });
    expect((await account.call('GET', `${tickets}/${ticketId}`)).status).toBe(404);
    expect((await account.call('GET', `${tickets}/${ticketId}?archived=true`)).json.archived).toBe(true);
  });
});

describe('associations', () => {
  const path = '/crm/associations/2026-09/tickets/contacts/batch/read';

  test('it gives numbers for the other side, labels with their type', async () => {
    const second = account.standin.addContact();
    await account.standin.associate({
      type: 'tickets',
      id: ticketId,
      contactId: second.id,
      label: { typeId: 77, label: 'Caller' },
    });
    const { status, json } = await account.call('POST', path, { inputs: [{ id: String(ticketId) }] });
    const own = { category: 'HUBSPOT_DEFINED', typeId: 16, label: null };
    expect([status, json.results[0].from]).toEqual([200, { id: String(ticketId) }]);
    expect(json.results[0].to).toHaveLength(2);
    expect(json.results[0].to).toEqual(
      expect.arrayContaining([
        { toObjectId: contactId, associationTypes: [own] },
        { toObjectId: second.id, associationTypes: [own, { category: 'USER_DEFINED', typeId: 77, label: 'Caller' }] },
      ]),
    );
  });

  test('it answers 207 where there are none, and for ids that were merged away', async () => {
    const lonely = account.standin.addTicket();
    const { id } = account.standin.merge({
      type: 'tickets',
      primary: ticketId,
      merged: [account.standin.addTicket().id],
    });
    const { status, json } = await account.call('POST', path, {
      inputs: [lonely.id, ticketId, id].map((one) => ({ id: String(one) })),
    });
    expect([status, json.results.map((one: { from: object }) => one.from)]).toEqual([207, [{ id: String(id) }]]);
    expect(
      json.errors.map((one: { subCategory: string; context: { fromObjectId: string[] } }) => [
        one.subCategory,
        one.context.fromObjectId[0],
      ]),
    ).toEqual([
      ['crm.associations.NO_ASSOCIATIONS_FOUND', String(lonely.id)],
      ['crm.associations.NO_ASSOCIATIONS_FOUND', String(ticketId)],
    ]);
  });
});

describe('what surrounds the records', () => {
  test('it describes stages with text only', async () => {
    account.standin.addPipeline({
      type: 'tickets',
      id: '55',
      label: 'Other',
      stages: [{ id: '1269308450', label: 'Archived', closed: true }],
    });
    const { json } = await account.call('GET', '/crm/pipelines/2026-09/tickets');
    const stages = json.results.flatMap((pipeline: { stages: { id: string; metadata: object }[] }) => pipeline.stages);
    expect(
      stages.map((stage: { id: string; metadata: { isClosed: string; ticketState: string } }) => [
        stage.id,
        stage.metadata.ticketState,
        stage.metadata.isClosed,
      ]),
    ).toEqual([
      ['1', 'OPEN', 'false'],
      ['2', 'OPEN', 'false'],
      ['3', 'OPEN', 'false'],
      ['4', 'CLOSED', 'true'],
      ['1269308450', 'CLOSED', 'true'],
    ]);
    const deals = await account.call('GET', '/crm/pipelines/2026-09/deals/default');
    expect(deals.json.stages.at(-1)).toMatchObject({
      id: 'closedlost',
      metadata: { probability: '0.0', isClosed: 'true' },
    });
  });

  test('it pages owners and hides archived ones', async () => {
    const [a, b] = [account.standin.addOwner(), account.standin.addOwner({ archived: true })];
    account.standin.addOwner();
    const first = await account.call('GET', '/crm/owners/2026-09?limit=1');
    expect([first.json.results[0].id, first.json.paging.next.after]).toEqual([a.id, '1']);
    expect((await account.call('GET', `/crm/owners/2026-09/${b.id}`)).status).toBe(404);
    expect((await account.call('GET', `/crm/owners/2026-09/${b.id}?archived=true`)).status).toBe(200);
  });

  test('it creates groups and properties once', async () => {
    const group = () =>
      account.call('POST', '/crm/properties/2026-09/tickets/groups', { name: 'closeloop', label: 'Closeloop' });
    const property = (more: object = {}) =>
      account.call('POST', '/crm/properties/2026-09/tickets', {
        name: 'closeloop_grade',
        label: 'Grade',
        type: 'number',
        fieldType: 'number',
        groupName: 'closeloop',
        ...more,
      });
    expect((await property()).status).toBe(400);
    expect([(await group()).status, (await group()).status]).toEqual([201, 409]);
    const twice = [await property(), await property()];
    expect(twice.map((reply) => [reply.status, reply.json.category])).toEqual([
      [201, undefined],
      [409, 'OBJECT_ALREADY_EXISTS'],
    ]);
    expect((await property({ name: 'Grade' })).status).toBe(400);
    expect((await property({ name: 'x', fieldType: 'select' })).status).toBe(400);
    expect((await account.call('GET', '/crm/properties/2026-09/tickets/closeloop_grade')).json).toMatchObject({
      type: 'number',
      modificationMetadata: { readOnlyValue: false },
    });
  });

  test('it tells portal and zone', async () => {
    expect((await account.call('GET', '/account-info/2026-09/details')).json).toMatchObject({
      portalId: 48_211_907,
      timeZone: 'Europe/Tallinn',
    });
  });
});

describe('limits', () => {
  test('it refuses what is too much in any ten seconds, and serves again as they pass', async () => {
    const small = await openAccount({ now: () => new Date(now), rateLimit: { per10s: 2 } });
    const get = () => small.call('GET', `${tickets}/${ticketId}`);
    expect((await get()).headers.get('x-hubspot-ratelimit-remaining')).toBe('1');
    now += 6_000;
    await get();
    const refused = await get();
    expect([refused.status, refused.headers.get('retry-after'), refused.json]).toEqual([
      429,
      null,
      expect.objectContaining({
        errorType: 'RATE_LIMIT',
        policyName: 'TEN_SECONDLY_ROLLING',
        correlationId: expect.any(String),
        requestId: expect.any(String),
      }),
    ]);
    expect(refused.headers.get('x-hubspot-ratelimit-interval-milliseconds')).toBe('10000');
    now += 4_000;
    expect([(await get()).status, (await get()).status]).toEqual([200, 429]);
    await small.close();
  });

  test('it has a daily limit', async () => {
    const small = await openAccount({ now: () => new Date(now), rateLimit: { daily: 1 } });
    await small.call('GET', `${tickets}/${ticketId}`);
    expect((await small.call('GET', `${tickets}/${ticketId}`)).json.policyName).toBe('DAILY');
    await small.close();
  });

  test('it counts calls by endpoint, control calls not', async () => {
    await account.call('POST', `${tickets}/batch/read`, readBody([ticketId]));
    await account.call('GET', `/_control/tickets/${ticketId}`);
    expect(account.standin.callCounts()).toEqual({ 'POST /crm/objects/{version}/tickets/batch/read': 1 });
  });
});

test('it can be run over HTTP alone', async () => {
  const made = await account.call('POST', '/_control/tickets', { contacts: [contactId] });
  expect((await account.call('POST', `/_control/tickets/${made.json.id}/close`, {})).json).toEqual([]);
  expect((await account.call('GET', `/_control/tickets/${made.json.id}`)).json).toMatchObject({
    properties: { hs_pipeline_stage: '4' },
    contacts: [contactId],
  });
  expect((await account.call('POST', '/_control/tickets/5/close', {})).status).toBe(409);
  expect((await account.call('PATCH', '/_control/settings', { per10s: 'x' })).status).toBe(400);
  expect((await account.call('POST', '/_control/reset')).status).toBe(200);
  expect((await account.call('GET', '/_control/records')).json).toEqual([]);
});

describe('merged and deleted', () => {
  const path = '/crm/associations/2026-09/tickets/contacts/batch/read';
  const contactsOf = async (id: number) => {
    const { json } = await account.call('POST', path, { inputs: [{ id: String(id) }] });
    return json.results.flatMap((one: { to: { toObjectId: number }[] }) => one.to.map(({ toObjectId }) => toObjectId));
  };

  test('it hands the tickets of a merged contact on to the new one', async () => {
    const other = account.standin.addContact();
    const { id } = account.standin.merge({ type: 'contacts', primary: contactId, merged: [other.id] });
    expect(await contactsOf(ticketId)).toEqual([id]);
    expect((await account.call('GET', `/crm/objects/2026-09/contacts/${contactId}`)).json.id).toBe(String(id));
  });

  test('it keeps the primary id when told to', async () => {
    const other = account.standin.addTicket({ contacts: [account.standin.addContact({ id: 77 }).id] });
    account.standin.merge({ type: 'tickets', primary: ticketId, merged: [other.id], keepPrimary: true });
    expect((await account.call('GET', `${tickets}/${other.id}`)).json.id).toBe(String(ticketId));
    expect((await contactsOf(ticketId)).sort()).toEqual([contactId, 77].sort());
    expect(await contactsOf(other.id)).toEqual([]);
  });

  test('it has no associations of deleted tickets, nor with deleted contacts', async () => {
    await account.standin.deleteRecord({ type: 'contacts', id: contactId });
    expect(await contactsOf(ticketId)).toEqual([]);
    await account.standin.restore({ type: 'contacts', id: contactId });
    expect(await contactsOf(ticketId)).toEqual([contactId]);
    await account.standin.deleteRecord({ type: 'tickets', id: ticketId });
    expect(await contactsOf(ticketId)).toEqual([]);
  });

  test('it pages long lists of associations', async () => {
    await account.standin.associate({ type: 'tickets', id: ticketId, contactId: account.standin.addContact().id });
    account.standin.changeSettings({ associationPage: 1 });
    const first = await account.call('POST', path, { inputs: [{ id: String(ticketId) }] });
    const next = first.json.results[0].paging.next.after;
    const second = await account.call('POST', path, { inputs: [{ id: String(ticketId), after: next }] });
    expect([first.json.results[0].to.length, second.json.results[0].to.length, second.json.results[0].paging]).toEqual([
      1,
      1,
      undefined,
    ]);
  });
});

describe('lists whose options live elsewhere', () => {
  test('it takes ids of owners, not of their users, and fills options of stages', async () => {
    const owner = account.standin.addOwner({ type: 'QUEUE' });
    const set = async (value: string | number) =>
      (
        await account.call('PATCH', `${tickets}/${ticketId}`, {
          properties: { hubspot_owner_id: String(value) },
        })
      ).status;
    expect([await set(owner.id), await set(owner.userId), await set('')]).toEqual([200, 400, 200]);
    const { json } = await account.call('GET', '/crm/properties/2026-09/tickets/hs_pipeline_stage');
    expect(json.options.map((one: { value: string }) => one.value)).toEqual(['1', '2', '3', '4']);
  });

  test('it moves a record to the pipeline of its stage', async () => {
    account.standin.addPipeline({
      type: 'tickets',
      id: '55',
      label: 'Other',
      stages: [{ id: '900', label: 'Done', closed: true }],
    });
    now += 1000;
    await account.call('PATCH', `${tickets}/${ticketId}`, { properties: { hs_pipeline_stage: '900' } });
    expect(account.standin.ticket(ticketId).properties).toMatchObject({
      hs_pipeline: '55',
      closed_date: '2026-11-21T10:00:01.000Z',
      hs_v2_date_entered_900: '2026-11-21T10:00:01.000Z',
    });
  });
});

describe('search', () => {
  const search = (more: object = {}) =>
    account.call('POST', `${tickets}/search`, {
      filterGroups: [],
      sorts: [],
      properties: ['closed_date'],
      limit: 10,
      after: '',
      ...more,
    });
  const filtered = (...filters: object[]) => ({ filterGroups: [{ filters }] });
  const idsOf = (json: { results: { id: string }[] }) => json.results.map(({ id }) => Number(id));

  test('it finds by stage and time, in order and in pages, deleted ones not', async () => {
    const ids: number[] = [];
    for (const id of [11, 12, 13, 14]) {
      now += 1000;
      account.standin.addTicket({ id });
      await account.standin.close(id);
      ids.push(id);
    }
    await account.standin.deleteRecord({ type: 'tickets', id: 14 });
    const closed = {
      ...filtered(
        { propertyName: 'hs_pipeline_stage', operator: 'IN', values: ['4'] },
        { propertyName: 'closed_date', operator: 'GTE', value: String(Date.parse('2026-11-21T10:00:02Z')) },
      ),
      sorts: [{ propertyName: 'closed_date', direction: 'DESCENDING' }],
    };
    const first = await search({ ...closed, limit: 1 });
    expect([first.json.total, idsOf(first.json), first.json.paging.next.after]).toEqual([2, [13], '1']);
    expect(idsOf((await search({ ...closed, limit: 1, after: '1' })).json)).toEqual([12]);
  });

  const one = { propertyName: 'subject', operator: 'HAS_PROPERTY' };
  const refusals: [name: string, more: object][] = [
    ['more than 200 a page', { limit: 201 }],
    ['more than 10,000 results', { limit: 200, after: '9900' }],
    ['two sorts', { sorts: Array(2).fill({ propertyName: 'subject', direction: 'ASCENDING' }) }],
    ['seven filters in a group', filtered(...Array(7).fill(one))],
    ['six groups', { filterGroups: Array(6).fill({ filters: [one] }) }],
    ['nineteen filters', { filterGroups: Array(4).fill({ filters: Array(5).fill(one) }) }],
    ['an unknown operator', filtered({ ...one, operator: 'LIKE' })],
    ['an unknown property', filtered({ ...one, propertyName: 'nope' })],
    ['a body of more than 3,000 characters', { properties: ['x'.repeat(3_000)] }],
    ['a missing key', { sorts: undefined }],
  ];
  test.each(refusals)('it refuses %s', async (_name, more) => {
    expect((await search(more)).status).toBe(400);
  });

  test('it lags when told to, and takes five a second without saying what is left', async () => {
    account.standin.changeSettings({ searchLagMs: 500 });
    expect((await search()).json.total).toBe(0);
    now += 500;
    const later = await search();
    expect([later.json.total, later.headers.get('x-hubspot-ratelimit-remaining')]).toEqual([1, null]);
    await Promise.all([search(), search(), search()]);
    const refused = await search();
    expect([refused.status, refused.json.policyName, refused.json.message]).toEqual([
      429,
      'SECONDLY',
      'You have reached your secondly limit.',
    ]);
  });

  test('it lists everything without a search', async () => {
    for (const id of [1, 2, 3]) account.standin.addTicket({ id });
    const first = await account.call('GET', `${tickets}?limit=2`);
    const rest = await account.call('GET', `${tickets}?limit=2&after=${first.json.paging.next.after}`);
    expect([idsOf(first.json), idsOf(rest.json), rest.json.paging]).toEqual([[1, 2], [3, ticketId], undefined]);
  });
});

test('it ends the day of calls at midnight in the zone of the account', async () => {
  now = Date.parse('2026-11-21T21:59:00Z');
  const small = await openAccount({ now: () => new Date(now), rateLimit: { daily: 1 }, accessToken: 'another' });
  const get = () => small.call('GET', `${tickets}/${ticketId}`, undefined, { authorization: 'Bearer another' });
  expect([(await get()).status, (await get()).status]).toEqual([200, 429]);
  now += 120_000;
  expect((await get()).status).toBe(200);
  await small.close();
});
