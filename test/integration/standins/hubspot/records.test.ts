import { describe, expect, test } from 'vitest';
import { contactId, readBody, ticketId, useAccount } from '../../../support/standins/hubspot/account.ts';

const account = useAccount();

const tickets = '/crm/objects/2026-09/tickets';

const updateBody = (properties: Record<string, unknown>, id: number | string = ticketId) => ({
  inputs: [{ id: String(id), properties }],
});

const many = (count: number) => Array.from({ length: count }, (_value, index) => index + 1);

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
    account.clock.now += 1000;
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
    account.clock.now += 5000;
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
    account.clock.now += 1000;
    await account.call('PATCH', `${tickets}/${ticketId}`, { properties: { hs_pipeline_stage: '900' } });
    expect(account.standin.ticket(ticketId).properties).toMatchObject({
      hs_pipeline: '55',
      closed_date: '2026-11-21T10:00:01.000Z',
      hs_v2_date_entered_900: '2026-11-21T10:00:01.000Z',
    });
  });
});
