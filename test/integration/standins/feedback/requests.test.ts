import { describe, expect, test } from 'vitest';
import type { FieldType } from '../../../../standins/feedback/model.ts';
import { campaigns, create } from '../../../support/standins/feedback/campaigns.ts';
import { created, envelope } from '../../../support/standins/feedback/service.ts';

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
