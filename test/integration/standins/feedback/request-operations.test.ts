import { describe, expect, test } from 'vitest';
import type { OperationsForm } from '../../../../standins/feedback/operations-form.ts';
import { campaigns } from '../../../support/standins/feedback/campaigns.ts';
import { created, envelope, type Service, service } from '../../../support/standins/feedback/service.ts';

describe('grading, commenting, cancelling, getting', () => {
  const operations: [method: string, path: string, body?: object][] = [
    ['GET', ''],
    ['POST', '/grade', { grade: 5 }],
    ['POST', '/comment', { comment: 'Tere' }],
    ['POST', '/cancel'],
  ];

  test.for(operations)('%s …%s is 404 for a request that does not exist', async ([method, path, body]) => {
    const answer = await (await campaigns()).call(method, `/appeals/500001${path}`, body);
    expect([answer.status, answer.body]).toEqual([404, { detail: 'Not found.' }]);
  });

  test.for(operations)("%s …%s is 403 for another account's request", async ([method, path, body]) => {
    const s = await campaigns();
    const other = { authorization: 'Token other' };
    expect((await s.call('POST', '/appeals/', { campaign: 8, identifier: 'x' }, other)).status).toBe(201);
    expect((await s.call(method, `/appeals/500001${path}`, body)).status).toBe(403);
  });

  test.for(operations)('%s …%s is 403 when the campaign is not active any more', async ([method, path, body]) => {
    const s = await campaigns();
    const id = await created(s, { campaign: 5, identifier: 'x' });
    s.standin.changeCampaign({ id: 5, state: 'inactive' });
    expect((await s.call(method, `/appeals/${id}${path}`, body)).status).toBe(403);
  });

  test('grade and comment are recorded and answered with the record', async () => {
    const s = await campaigns();
    const id = await created(s, { campaign: 5, identifier: 'x' });
    expect(await s.call('POST', `/appeals/${id}/grade`, { grade: 4 })).toMatchObject({
      status: 200,
      body: { id, grade: 4 },
    });
    expect(await s.call('POST', `/appeals/${id}/comment`, { comment: 'Tere' })).toMatchObject({
      status: 200,
      body: { id, grade: 4, comment: 'Tere' },
    });
    expect((await s.call('GET', `/appeals/${id}`)).body).toMatchObject({ id, grade: 4, comment: 'Tere' });
  });

  const notExternal = { detail: 'Only feedback requests of an external campaign can be graded or commented.' };
  const noGrade = { grade: ["A grade of the campaign's scale is required."] };
  const noComment = { comment: ['This field is required.'] };
  const refusals: [operation: string, campaign: number, body: object, answer: object][] = [
    ['grade', 2, { grade: 5 }, notExternal],
    ['comment', 2, { comment: 'x' }, notExternal],
    ['grade', 5, { grade: 6 }, noGrade],
    ['grade', 5, { grade: '5' }, noGrade],
    ['grade', 5, {}, noGrade],
    ['grade', 5, { grade: 5, comment: 'x' }, { comment: ['Unknown field.'] }],
    ['comment', 5, { comment: '' }, noComment],
    ['comment', 5, {}, noComment],
    ['cancel', 5, { why: 'x' }, { why: ['Unknown field.'] }],
  ];
  test.for(refusals)('%s on campaign %i refuses %j', async ([operation, campaign, body, answer]) => {
    const s = await campaigns();
    const id = await created(s, campaign === 5 ? { campaign, identifier: 'x' } : { campaign, email: 'a@b.ee' });
    expect(await s.call('POST', `/appeals/${id}/${operation}`, body)).toMatchObject({ status: 400, body: answer });
  });

  test('cancel is allowed in status Scheduled, once, and it is never sent', async () => {
    const s = await campaigns();
    const id = await created(s, { campaign: 2, email: 'a@b.ee' });
    expect(await s.call('POST', `/appeals/${id}/cancel`)).toMatchObject({
      status: 200,
      body: { id, status: 'Cancelled' },
    });
    const again = await s.call('POST', `/appeals/${id}/cancel`);
    expect([again.status, again.body]).toEqual([
      400,
      { detail: "Only feedback requests with status 'Scheduled' can be cancelled." },
    ]);
    s.standin.moveClock({ advanceMs: 86_400_000 });
    expect(s.standin.requests()[0]).toMatchObject({ status: 'Cancelled', sentAt: null });
  });

  test('cancel is 400 with a detail once the request has gone out', async () => {
    const s = await campaigns();
    const id = await created(s, { campaign: 2, email: 'a@b.ee' });
    s.standin.moveClock({ advanceMs: 90 * 60_000 });
    const answer = await s.call('POST', `/appeals/${id}/cancel`);
    expect([answer.status, answer.body]).toEqual([
      400,
      { detail: "Only feedback requests with status 'Scheduled' can be cancelled." },
    ]);
  });

  test('a cancelled request can be neither graded nor commented', async () => {
    const s = await campaigns();
    const id = await created(s, { campaign: 5, identifier: 'x', scheduled: '2026-04-01T10:00' });
    await s.call('POST', `/appeals/${id}/cancel`);
    expect((await s.call('POST', `/appeals/${id}/grade`, { grade: 5 })).status).toBe(400);
    expect((await s.call('POST', `/appeals/${id}/comment`, { comment: 'x' })).status).toBe(400);
  });
});

describe('another wire form for all five operations', () => {
  const form: OperationsForm = {
    create: {
      method: 'PUT',
      path: '/campaigns/:campaign/invitations',
      constants: { 'meta.kind': 'invitation' },
      body: {
        campaign: 'campaign',
        phone: 'to.sms',
        email: 'to.mail',
        identifier: 'to.ref',
        scheduled: 'plan.at',
        customFields: 'data.values',
        fieldsAs: { name: 'key', value: 'content.raw' },
      },
    },
    get: { method: 'POST', path: '/invitations/find', id: { in: 'body', at: 'invitation.number' } },
    grade: { method: 'PATCH', path: '/invitations/:id', grade: 'score.value' },
    comment: { method: 'PUT', path: '/invitation-notes', id: { in: 'query', at: 'invitation' }, comment: 'note.text' },
    cancel: { method: 'DELETE', path: '/invitations/:id' },
    record: {
      id: 'number',
      campaign: 'campaign.number',
      phone: 'to.sms',
      email: 'to.mail',
      identifier: 'to.ref',
      scheduled: 'plan.at',
      status: 'state',
      grade: 'score.value',
      comment: 'note.text',
      customFields: 'data.values',
      fieldsAs: { name: 'key', value: 'content.raw' },
      envelope: 'result.invitation',
    },
  };
  const record = (more: object): object => ({
    number: 500_001,
    campaign: { number: 12 },
    to: { sms: null, mail: null, ref: 'x' },
    plan: { at: '2026-04-01T10:00:00.000000+03:00' },
    state: 'Scheduled',
    score: { value: null },
    note: { text: null },
    data: { values: [{ key: 'Store', content: { raw: 'Tartu' } }] },
    ...more,
  });
  const body = {
    meta: { kind: 'invitation' },
    to: { ref: 'x' },
    plan: { at: '2026-04-01T10:00:00' },
    data: { values: [{ key: 'Store', content: { raw: 'Tartu' } }] },
  };
  async function open(): Promise<Service> {
    const s = await service({ form });
    s.standin.addCampaign({
      account: 'a',
      id: 12,
      type: 'external',
      customFields: [{ name: 'Store', required: true }],
    });
    return s;
  }

  test('serves all five, and the export in the same record', async () => {
    const s = await open();
    const answers = [
      await s.call('PUT', '/campaigns/12/invitations', body),
      await s.call('POST', '/invitations/find', { invitation: { number: 500_001 } }),
      await s.call('PATCH', '/invitations/500001', { score: { value: 5 } }),
      await s.call('PUT', '/invitation-notes?invitation=500001', { note: { text: 'Tere' } }),
      await s.call('DELETE', '/invitations/500001'),
    ];
    const answered = { score: { value: 5 }, note: { text: 'Tere' } };
    expect(answers.map(({ status, body }) => [status, Object(body).result.invitation])).toEqual([
      [201, record({})],
      [200, record({})],
      [200, record({ score: { value: 5 } })],
      [200, record(answered)],
      [200, record({ ...answered, state: 'Cancelled' })],
    ]);
    expect(envelope.parse((await s.call('GET', '/appeals/')).body).results).toEqual([
      record({ ...answered, state: 'Cancelled' }),
    ]);
  });

  test.for([
    ['POST', '/appeals/', { campaign: 12, identifier: 'x' }, 405],
    ['GET', '/appeals/500001', undefined, 404],
    ['POST', '/appeals/500001/grade', { grade: 5 }, 404],
  ] as const)('does not serve the usual form: %s %s', async ([method, path, body, status]) => {
    expect((await (await open()).call(method, path, body)).status).toBe(status);
  });

  test.for([
    ['a missing constant', { ...body, meta: undefined }, { 'meta.kind': ['Must be "invitation".'] }],
    ['the usual place of the contact', { ...body, to: undefined, identifier: 'x' }, { identifier: ['Unknown field.'] }],
    [
      'fields as an object',
      { ...body, data: { values: { Store: 'x' } } },
      { values: ['Expected a list of objects with key and content.raw.'] },
    ],
    [
      'a field given twice',
      { ...body, data: { values: [...body.data.values, ...body.data.values] } },
      { Store: ['This field is given twice.'] },
    ],
    ['a missing required field', { ...body, data: undefined }, { Store: ['This field is required.'] }],
    ['a missing contact', { ...body, to: undefined }, { ref: ['This field is required.'] }],
  ] as const)('refuses %s', async ([, sent, answer]) => {
    expect(await (await open()).call('PUT', '/campaigns/12/invitations', sent)).toMatchObject({
      status: 400,
      body: answer,
    });
  });
});
