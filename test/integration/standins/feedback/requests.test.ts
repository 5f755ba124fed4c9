import { describe, expect, test } from 'vitest';
import type { FieldType } from '../../../../standins/feedback/model.ts';
import type { OperationsForm } from '../../../../standins/feedback/operations-form.ts';
import { type Answer, created, envelope, type Service, service } from '../../../support/standins/feedback/service.ts';

const fields: { name: FieldType; fieldType: FieldType; choices?: string[] }[] = [
  { name: 'Text', fieldType: 'Text' },
  { name: 'Integer', fieldType: 'Integer' },
  { name: 'Date', fieldType: 'Date' },
  { name: 'Time', fieldType: 'Time' },
  { name: 'Date and time', fieldType: 'Date and time' },
  { name: 'Yes/No', fieldType: 'Yes/No' },
  { name: 'Choice', fieldType: 'Choice', choices: ['A', 'B'] },
  { name: 'URL address', fieldType: 'URL address' },
];

/** One campaign of every type (ids 1 to 5), of every other state, and of the other account. */
async function campaigns(options: Parameters<typeof service>[0] = {}): Promise<Service> {
  const s = await service(options);
  s.standin.addCampaign({ account: 'a', id: 1, type: 'sms' });
  s.standin.addCampaign({ account: 'a', id: 2, type: 'email', sendDelay: 90 });
  s.standin.addCampaign({ account: 'a', id: 3, type: 'mixed', customFields: fields });
  s.standin.addCampaign({ account: 'a', id: 4, type: 'widget' });
  s.standin.addCampaign({ account: 'a', id: 5, type: 'external' });
  s.standin.addCampaign({ account: 'a', id: 6, type: 'email', state: 'inactive' });
  s.standin.addCampaign({ account: 'a', id: 7, type: 'email', state: 'draft' });
  s.standin.addCampaign({ account: 'b', id: 8, type: 'external' });
  s.standin.addCampaign({ account: 'a', id: 9, type: 'email', customFields: [{ name: 'Store', required: true }] });
  return s;
}

const create = (s: Service, body: unknown): Promise<Answer> => s.call('POST', '/appeals/', body);
const at = (iso: string): string => new Date(iso).toISOString();

describe('creating a feedback request', () => {
  test('returns 201 and the record', async () => {
    const s = await campaigns();
    const body = { campaign: 3, email: 'Ann@Example.com', custom_fields: { Text: 'x', Integer: 42 } };
    expect(await create(s, body)).toMatchObject({
      status: 201,
      body: {
        id: 500_001,
        campaign: 3,
        phone: null,
        email: 'Ann@Example.com',
        identifier: null,
        scheduled: '2026-03-10T12:00:00.000000+02:00',
        status: 'Sent',
        grade: null,
        comment: null,
        custom_fields: { Text: 'x', Integer: 42 },
      },
    });
  });

  const required = ['This field is required.'];
  const phone = ['Enter a valid mobile number in international format.'];
  const refusals: [says: string, body: unknown, status: number, answer: object][] = [
    ['no object', [1], 400, { non_field_errors: ['Invalid data. Expected an object.'] }],
    ['no body', undefined, 400, { non_field_errors: ['Invalid data. Expected an object.'] }],
    ['no campaign', { email: 'a@b.ee' }, 400, { campaign: required }],
    ['a campaign that is no number', { campaign: 'x' }, 400, { campaign: ['A valid integer is required.'] }],
    ['an unknown key', { campaign: 2, email: 'a@b.ee', mail: 1 }, 400, { mail: ['Unknown field.'] }],
    ['an sms campaign without phone', { campaign: 1 }, 400, { phone: required }],
    [
      'an sms campaign with an email',
      { campaign: 1, email: 'a@b.ee' },
      400,
      { email: ['A campaign of type sms does not take this contact.'], phone: required },
    ],
    ['an email campaign without email', { campaign: 2 }, 400, { email: required }],
    ['a mixed campaign without either', { campaign: 3 }, 400, { phone: required, email: required }],
    ['an external campaign without identifier', { campaign: 5 }, 400, { identifier: required }],
    [
      'a widget campaign',
      { campaign: 4 },
      400,
      { campaign: ['Feedback requests of a widget campaign are created by the widget.'] },
    ],
    ['a national number', { campaign: 1, phone: '5551234' }, 400, { phone }],
    ['a number that is a number', { campaign: 1, phone: 3725551234 }, 400, { phone }],
    ['an email that is none', { campaign: 2, email: 'ann' }, 400, { email: ['Enter a valid email address.'] }],
    ['an empty identifier', { campaign: 5, identifier: ' ' }, 400, { identifier: ['Enter a valid identifier.'] }],
    ['a missing required custom field', { campaign: 9, email: 'a@b.ee' }, 400, { Store: required }],
    [
      'an empty required custom field',
      { campaign: 9, email: 'a@b.ee', custom_fields: { Store: '' } },
      400,
      { Store: required },
    ],
    [
      'an unknown custom field',
      { campaign: 9, email: 'a@b.ee', custom_fields: { Store: 'x', store: 'x' } },
      400,
      { store: ['The campaign has no custom field of this name.'] },
    ],
    [
      'custom fields that are no object',
      { campaign: 9, email: 'a@b.ee', custom_fields: [] },
      400,
      { custom_fields: ['Expected an object of field names and values.'] },
    ],
    [
      'a scheduled date that is none',
      { campaign: 2, email: 'a@b.ee', scheduled: 'soon' },
      400,
      { scheduled: ['Datetime has wrong format. Use ISO 8601.'] },
    ],
    [
      'several mistakes at once',
      { campaign: 9, scheduled: 1 },
      400,
      { email: required, scheduled: ['Datetime has wrong format. Use ISO 8601.'], Store: required },
    ],
    ['a campaign that does not exist', { campaign: 99 }, 404, { detail: 'No Campaign matches the given query.' }],
    ['a draft campaign', { campaign: 7 }, 404, { detail: 'No Campaign matches the given query.' }],
    ['an inactive campaign', { campaign: 6 }, 403, { detail: 'You do not have permission to perform this action.' }],
    [
      "another account's campaign",
      { campaign: 8 },
      403,
      { detail: 'You do not have permission to perform this action.' },
    ],
  ];
  test.for(refusals)('refuses %s', async ([, body, status, answer]) => {
    const s = await campaigns();
    expect(await create(s, body)).toMatchObject({ status, body: answer });
    expect(Object((await create(s, body)).body)).toEqual(answer);
    expect(s.standin.requests()).toEqual([]);
  });

  const contacts: [campaign: number, contact: object, stored: object][] = [
    [1, { phone: '+372 5555 1234' }, { phone: '+37255551234' }],
    [1, { phone: '0037255551234', email: null }, { phone: '+37255551234' }],
    [2, { email: 'a@b.ee' }, { email: 'a@b.ee' }],
    [3, { phone: '+37255551234' }, { phone: '+37255551234', email: null }],
    [3, { phone: '+37255551234', email: 'a@b.ee' }, { phone: '+37255551234', email: 'a@b.ee' }],
    [5, { identifier: 'Case 1/2' }, { identifier: 'Case 1/2' }],
  ];
  test.for(contacts)('campaign %i takes %j', async ([campaign, contact, stored]) => {
    const s = await campaigns();
    expect(await create(s, { campaign, ...contact })).toMatchObject({ status: 201, body: stored });
  });

  const wrongDate = 'Date has wrong format. Use YYYY-MM-DD.';
  const wrongTime = 'Time has wrong format. Use HH:MM or HH:MM:SS.';
  const wrongDateTime = 'Datetime has wrong format. Use ISO 8601.';
  const values: [field: FieldType, sent: unknown, expected: { is: unknown } | { not: string }][] = [
    ['Text', 'Ülo', { is: 'Ülo' }],
    ['Text', 5, { not: 'Not a valid string.' }],
    ['Integer', -7, { is: -7 }],
    ['Integer', '42', { is: 42 }],
    ['Integer', 42.5, { not: 'A valid integer is required.' }],
    ['Integer', '42.5', { not: 'A valid integer is required.' }],
    ['Integer', true, { not: 'A valid integer is required.' }],
    ['Date', '2024-02-29', { is: '2024-02-29' }],
    ['Date', '2026-02-29', { not: wrongDate }],
    ['Date', '2026-03-10T10:00:00Z', { not: wrongDate }],
    ['Time', '23:59', { is: '23:59:00' }],
    ['Time', '23:59:58', { is: '23:59:58' }],
    ['Time', '24:00', { not: wrongTime }],
    ['Date and time', '2026-03-10T10:00:00Z', { is: '2026-03-10T12:00:00.000000+02:00' }],
    ['Date and time', '2026-07-10T10:00', { is: '2026-07-10T10:00:00.000000+03:00' }],
    ['Date and time', '2026-07-10 10:00:01.250', { is: '2026-07-10T10:00:01.250000+03:00' }],
    ['Date and time', '2026-03-10T10:00:00-05:00', { is: '2026-03-10T17:00:00.000000+02:00' }],
    ['Date and time', '2026-03-10', { not: wrongDateTime }],
    ['Date and time', '2026-13-10T10:00:00Z', { not: wrongDateTime }],
    ['Yes/No', true, { is: true }],
    ['Yes/No', false, { is: false }],
    ['Yes/No', 'No', { is: false }],
    ['Yes/No', 1, { not: 'Must be true or false.' }],
    ['Choice', 'B', { is: 'B' }],
    ['Choice', 'b', { not: 'Select a valid choice. b is not one of the available choices.' }],
    ['URL address', 'https://example.com/a?b=c', { is: 'https://example.com/a?b=c' }],
    ['URL address', 'http://example.com', { is: 'http://example.com' }],
    ['URL address', 'ftp://example.com', { not: 'Enter a valid URL.' }],
    ['URL address', 'example.com', { not: 'Enter a valid URL.' }],
    ['Text', null, { is: undefined }],
    ['Choice', '', { is: undefined }],
  ];
  test.for(values)('a custom field of type %s given %j: %j', async ([name, sent, expected]) => {
    const s = await campaigns();
    const { status, body } = await create(s, { campaign: 3, email: 'a@b.ee', custom_fields: { [name]: sent } });
    if ('not' in expected) expect([status, body]).toEqual([400, { [name]: [expected.not] }]);
    else
      expect([status, Object(body).custom_fields]).toEqual([
        201,
        expected.is === undefined ? {} : { [name]: expected.is },
      ]);
  });
});

describe('when a feedback request goes out', () => {
  const rows: [says: string, campaign: object, scheduled: string | undefined, shown: string, dueAt: string][] = [
    ['at once without delay and window', {}, undefined, '2026-03-10T12:00:00.000000+02:00', '2026-03-10T10:00:00Z'],
    [
      "after the campaign's delay",
      { sendDelay: 90 },
      undefined,
      '2026-03-10T13:30:00.000000+02:00',
      '2026-03-10T11:30:00Z',
    ],
    [
      'at the explicit date, without the delay',
      { sendDelay: 90 },
      '2026-03-10T14:00:00+02:00',
      '2026-03-10T14:00:00.000000+02:00',
      '2026-03-10T12:00:00Z',
    ],
    [
      "an explicit date without offset is in the account's zone",
      {},
      '2026-07-01T09:30:00',
      '2026-07-01T09:30:00.000000+03:00',
      '2026-07-01T06:30:00Z',
    ],
    [
      'a date that has passed means at once',
      {},
      '2026-03-01T00:00:00Z',
      '2026-03-01T02:00:00.000000+02:00',
      '2026-03-10T10:00:00Z',
    ],
    [
      'in the window it does not wait',
      { sendFrom: '09:00:00', sendUntil: '20:00:00' },
      undefined,
      '2026-03-10T12:00:00.000000+02:00',
      '2026-03-10T10:00:00Z',
    ],
    [
      'before the window it waits for today',
      { sendFrom: '14:00:00', sendUntil: '20:00:00' },
      undefined,
      '2026-03-10T12:00:00.000000+02:00',
      '2026-03-10T12:00:00Z',
    ],
    [
      'after the window it waits for tomorrow',
      { sendFrom: '09:00:00', sendUntil: '12:00:00' },
      undefined,
      '2026-03-10T12:00:00.000000+02:00',
      '2026-03-11T07:00:00Z',
    ],
    [
      'the delay may lead out of the window',
      { sendFrom: '09:00:00', sendUntil: '20:00:00', sendDelay: 600 },
      undefined,
      '2026-03-10T22:00:00.000000+02:00',
      '2026-03-11T07:00:00Z',
    ],
    [
      'an explicit date is moved into the window too',
      { sendFrom: '09:00:00', sendUntil: '20:00:00' },
      '2026-03-10T22:00:00Z',
      '2026-03-11T00:00:00.000000+02:00',
      '2026-03-11T07:00:00Z',
    ],
    [
      'a window over midnight is closed at noon',
      { sendFrom: '22:00:00', sendUntil: '02:00:00' },
      undefined,
      '2026-03-10T12:00:00.000000+02:00',
      '2026-03-10T20:00:00Z',
    ],
    [
      'a window over midnight is open after midnight',
      { sendFrom: '22:00:00', sendUntil: '02:00:00' },
      '2026-03-11T01:00:00',
      '2026-03-11T01:00:00.000000+02:00',
      '2026-03-10T23:00:00Z',
    ],
  ];
  test.for(rows)('%s', async ([, campaign, scheduled, shown, dueAt]) => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, ...campaign });
    const { body } = await create(s, {
      campaign: 12,
      email: 'a@b.ee',
      ...(scheduled === undefined ? {} : { scheduled }),
    });
    expect(Object(body).scheduled).toBe(shown);
    const [request] = s.standin.requests();
    expect(request?.dueAt).toBe(at(dueAt));

    s.standin.moveClock({ now: new Date(Date.parse(dueAt) - 1) });
    expect(s.standin.requests()[0]).toMatchObject({ status: 'Scheduled', sentAt: null });
    s.standin.moveClock({ now: dueAt });
    expect(s.standin.requests()[0]).toMatchObject({ status: 'Sent', sentAt: at(dueAt) });
    const record = await s.call('GET', `/appeals/${request?.id}`);
    expect(record.body).toMatchObject({ status: 'Sent', scheduled: shown });
  });

  test('a changed window holds for what has not gone out', async () => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, sendFrom: '14:00:00', sendUntil: '15:00:00' });
    await created(s, { campaign: 12, email: 'a@b.ee' });
    s.standin.changeCampaign({ id: 12, sendFrom: '12:00:00' });
    expect(s.standin.requests()[0]?.status).toBe('Sent');
  });

  test.for(['blacklist', 'graylist'] as const)('a contact on the %s is accepted and never sent', async (list) => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, sendDelay: 5 });
    s.standin.addCampaign({ account: 'a', id: 13, sendDelay: 5 });
    if (list === 'blacklist') s.standin.blacklist({ account: 'a', contact: 'A@b.ee' });
    else s.standin.graylist({ campaign: 12, contact: 'A@b.ee' });
    const stopped = await created(s, { campaign: 12, email: 'a@B.ee' });
    const other = await created(s, { campaign: 13, email: 'a@b.ee' });
    expect((await s.call('GET', `/appeals/${stopped}`)).body).toMatchObject({ status: 'Scheduled' });
    s.standin.moveClock({ advanceMs: 3_600_000 });
    expect((await s.call('GET', `/appeals/${stopped}`)).body).toMatchObject({ status: 'Not sent' });
    const expected = list === 'blacklist' ? 'Not sent' : 'Sent';
    expect((await s.call('GET', `/appeals/${other}`)).body).toMatchObject({ status: expected });
  });
});

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

describe('GET /appeals/', () => {
  test("lists the account's requests, those of one campaign where asked", async () => {
    const s = await campaigns();
    const first = await created(s, { campaign: 2, email: 'a@b.ee' });
    const second = await created(s, { campaign: 5, identifier: 'x' });
    await s.call('POST', '/appeals/', { campaign: 8, identifier: 'x' }, { authorization: 'Token other' });
    const ids = async (query: string): Promise<unknown> =>
      envelope.parse((await s.call('GET', `/appeals/${query}`)).body).results.map(({ id }) => id);
    expect([await ids(''), await ids('?campaign=2'), await ids('?campaign=5'), await ids('?campaign=1')]).toEqual([
      [first, second],
      [first],
      [second],
      [],
    ]);
  });

  test.for([
    ['no number', 'x', 400],
    ['unknown', '99', 404],
    ['a draft', '7', 404],
    ['not active', '6', 403],
    ["another account's", '8', 403],
  ] as const)('a campaign that is %s (%s) is %i', async ([, campaign, status]) => {
    expect((await (await campaigns()).call('GET', `/appeals/?campaign=${campaign}`)).status).toBe(status);
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

describe('what JavaScript or nobody sees', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'a custom field %s that the campaign does not have is refused by its name (audit 34)',
    async (name) => {
      const s = await campaigns();
      for (const sent of [`{"${name}":"x"}`, `{"Text":"y","${name}":"x"}`]) {
        const { status, body } = await create(s, `{"campaign":3,"email":"ann@example.com","custom_fields":${sent}}`);
        const wrong = `{"${name}":["The campaign has no custom field of this name."]}`;
        expect([status, JSON.stringify(body)]).toEqual([400, wrong]);
      }
      expect((await create(s, `{"campaign":3,"email":"ann@example.com","${name}":"x"}`)).status).toBe(400);
    },
  );

  test.each(['__proto__', 'constructor'])(
    'a custom field %s that the campaign has is kept (audit 34)',
    async (name) => {
      const s = await campaigns();
      s.standin.addCampaign({ account: 'a', id: 10, type: 'email', customFields: [{ name, required: true }] });
      expect((await create(s, { campaign: 10, email: 'ann@example.com' })).status).toBe(400);
      const made = await create(s, `{"campaign":10,"email":"ann@example.com","custom_fields":{"${name}":"x"}}`);
      expect([made.status, JSON.stringify(Object(made.body).custom_fields)]).toEqual([201, `{"${name}":"x"}`]);
    },
  );

  test('zero-width text is no identifier, no comment and no required value (audit 34)', async () => {
    const s = await campaigns();
    const blank = '\u200b\ufeff';
    expect((await create(s, { campaign: 5, identifier: blank })).status).toBe(400);
    expect(await create(s, { campaign: 9, email: 'ann@example.com', custom_fields: { Store: blank } })).toMatchObject({
      status: 400,
      body: { Store: ['This field is required.'] },
    });
    const id = await created(s, { campaign: 5, identifier: 'desk-7' });
    expect((await s.call('POST', `/appeals/${id}/comment`, { comment: blank })).status).toBe(400);
  });
});
