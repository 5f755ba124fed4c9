import { describe, expect, test } from 'vitest';
import type { FeedbackClient } from '../../../../core/feedback/client.ts';
import type { NewRequest } from '../../../../core/feedback/request-form.ts';
import { FeedbackSettings } from '../../../../core/feedback/settings.ts';
import {
  campaign,
  contactRecord,
  page,
  phone,
  question,
  questions,
  record,
  request,
  survey,
} from '../../../support/core/feedback/samples.ts';
import { all, clientFor, failureOf, listen, serving } from '../../../support/core/feedback/service.ts';

/*
 * A row for every sentence of the specification that a client can get right or wrong. Each says what goes over the
 * wire and what comes out. Failures in detail: failure.test.ts; paging in detail: paging.test.ts.
 */

/** What a question is of which nothing is said. */
const unsaid = { instructions: '', required: false, is_active: true };

type Row = [
  it: string,
  call: (client: FeedbackClient) => Promise<unknown>,
  /** Method and path with the query, exactly as they must arrive below /api. */
  sent: string,
  answered: unknown,
  more?: {
    /** What comes out of it. Left out: the body of the answer. */
    result?: unknown;
    /** What must arrive. */
    body?: unknown;
    status?: number;
  },
];

const day = (text: string): Date => new Date(text);
const email = { kind: 'email', value: 'a@b.example' } as const;
const plain: NewRequest = { campaign: 12, contact: phone, customFields: {} };
const january = { statsFrom: '2026-01-01', statsTo: '2026-01-31' };
const inJanuary = 'stats_from=2026-01-01&stats_to=2026-01-31';
const since = { dateFrom: '2026-01-01', dateTo: '2026-01-31', changedSince: '2026-02-28' };
const values = { Store: 'North', Visits: 2, Member: true };
const odd = { Text: '', Number: -0.5, No: false };
const created = { status: 201, result: request };
const nothing = { result: undefined };
const nobody = { status: 404, ...nothing };
const notFound = { detail: 'Not found.' };

const nobodyGraded = { appeals_graded: 0, appeals_commented: 0, grade_counts: {} };
const npsCampaign = {
  ...{ ...campaign, id: 13, metric: 'nps', send_delay: null, custom_fields: [] },
  stats: { ...nobodyGraded, nps_index: -12.5, appeals_total: 0, average_grade: null },
};
const surveyCampaign = {
  ...{ ...campaign, id: 14, metric: 'survey', grade_list: [] },
  stats: { ...nobodyGraded, appeals_total: 4 },
};
const storeStatistics = [{ id: 3, name: 'Store', values: [{ value: 'North', count: 4, average_grade: 4.5 }] }];
const listed = {
  blacklist: { entry: '+37255512345', date_added: day('2026-02-01T22:00:00Z') },
  graylist: {
    entry: '+37255512345',
    campaigns: [{ id: 12, name: 'Phone team', date_added: day('2026-02-02T22:00:00Z') }],
  },
};
const ungraded = { avg_grade: [], index_csat: null, last_grade: null, blacklist: null, graylist: null };
const access = (user: string, date_accessed: unknown) => ({ user, action: 'app-contact-detail', date_accessed });
const mine = '/contacts/%2B37255512345';
const choice = { id: 1, question: 'Which?', answer_type: 'choice' };
const metric = { id: 2, question: 'How?', answer_type: 'metric' };
const scale = { metric: 'nps', start: 0, end: 10 };

const rows: Record<string, Row[]> = {
  'section 1, paths': [
    ['lists requests with a slash at the end', (c) => all(c.requests()), 'GET /appeals/', page([]), { result: [] }],
    ['lists surveys with a slash at the end', (c) => all(c.surveys()), 'GET /surveys/', page([]), { result: [] }],
    ['lists campaigns without one', (c) => all(c.campaigns()), 'GET /appeals/campaigns', page([]), { result: [] }],
  ],
  'section 4.1, campaigns': [
    [
      'reads a campaign with every field',
      (c) => c.campaign(12),
      'GET /appeals/campaigns/12',
      { ...campaign, added_later: { any: 'thing' } },
      { result: campaign },
    ],
    [
      'repeats type and metric to select several, and limits the statistics',
      (c) => all(c.campaigns({ type: ['sms', 'external'], metric: ['csat', 'nps'], ...january })),
      `GET /appeals/campaigns?type=sms&type=external&metric=csat&metric=nps&${inJanuary}`,
      page([campaign]),
      { result: [campaign] },
    ],
    [
      'limits the statistics of one campaign',
      (c) => c.campaign(12, january),
      `GET /appeals/campaigns/12?${inJanuary}`,
      campaign,
    ],
    ['has nps_index for nps only', (c) => c.campaign(13), 'GET /appeals/campaigns/13', npsCampaign],
    ['takes a survey-only one without grades', (c) => c.campaign(14), 'GET /appeals/campaigns/14', surveyCampaign],
    [
      'reads the statistics of custom fields from a plain array',
      (c) => c.customFieldStatistics({ campaign: 12 }),
      'GET /appeals/custom-fields?campaign=12',
      storeStatistics,
    ],
    [
      'limits the statistics of custom fields by dates and by change',
      (c) => c.customFieldStatistics({ campaign: 12, ...since }),
      'GET /appeals/custom-fields?campaign=12&date_from=2026-01-01&date_to=2026-01-31&changed_since=2026-02-28',
      [],
    ],
  ],
  'section 4.2, feedback requests': [
    [
      'lists the requests of a campaign, timestamps with their offset',
      (c) => all(c.requests({ campaign: 12 })),
      'GET /appeals/?campaign=12',
      page([record]),
      { result: [request] },
    ],
    ['gets one', (c) => c.request('901'), 'GET /appeals/901', record, { result: request }],
    [
      'creates one with values by field name, and takes 201',
      (c) => c.create({ ...plain, customFields: values }),
      'POST /appeals/',
      record,
      { ...created, body: { campaign: 12, phone: '+37255512345', custom_fields: values } },
    ],
    [
      'creates one at a stated instant, never as a time without offset',
      (c) => c.create({ ...plain, contact: email, scheduled: day('2026-03-02T10:00:00Z') }),
      'POST /appeals/',
      { ...record, phone: '', email: 'a@b.example' },
      {
        status: 201,
        body: { campaign: 12, email: 'a@b.example', scheduled: '2026-03-02T10:00:00.000Z' },
        result: { ...request, phone: null, email: 'a@b.example' },
      },
    ],
    [
      'creates one with values of each kind as they are',
      (c) => c.create({ ...plain, customFields: odd }),
      'POST /appeals/',
      record,
      { ...created, body: { campaign: 12, phone: '+37255512345', custom_fields: odd } },
    ],
    [
      'creates one for an identifier',
      (c) => c.create({ ...plain, contact: { kind: 'identifier', value: 'C-77' } }),
      'POST /appeals/',
      record,
      { ...created, body: { campaign: 12, identifier: 'C-77' } },
    ],
    ['grades', (c) => c.grade('901', 4), 'POST /appeals/901/grade', {}, { ...nothing, body: { grade: 4 } }],
    ['comments', (c) => c.comment('901', 'x'), 'POST /appeals/901/comment', {}, { ...nothing, body: { comment: 'x' } }],
    ['cancels without a body', (c) => c.cancel('901'), 'POST /appeals/901/cancel', '', nothing],
  ],
  'section 4.3, contacts': [
    [
      'reads a contact with every field',
      (c) => c.contact(phone),
      `GET ${mine}`,
      contactRecord,
      {
        result: {
          ...{ ...contactRecord, ...listed, last_appeal: day('2026-02-01T07:00:00Z') },
          last_grade: day('2026-02-01T08:00:00Z'),
        },
      },
    ],
    [
      'reads a contact who graded nothing and is on no list',
      (c) => c.contact(email),
      'GET /contacts/a%40b.example',
      { ...contactRecord, ...ungraded },
      { result: { ...contactRecord, ...ungraded, last_appeal: day('2026-02-01T07:00:00Z') } },
    ],
    ['finds nobody', (c) => c.contact(phone), `GET ${mine}`, notFound, nobody],
    [
      'names the same mobile number for a 00 prefix',
      (c) => c.contact({ kind: 'phone', value: '00372 5551 2345' }),
      `GET ${mine}`,
      notFound,
      nobody,
    ],
    [
      'encodes an identifier whole',
      (c) => c.contact({ kind: 'identifier', value: 'a/b?c#d %ü' }),
      'GET /contacts/a%2Fb%3Fc%23d%20%25%C3%BC',
      notFound,
      nobody,
    ],
    ['masks', (c) => c.mask(phone), `POST ${mine}/mask`, { contact: phone.value, masked: { appeals: 3 } }],
    ['sees that all was masked', (c) => c.mask(phone), `POST ${mine}/mask`, { contact: phone.value, masked: {} }],
    [
      'reads the access log in the order given',
      (c) => all(c.accessLog(phone)),
      `GET ${mine}/access-log`,
      page([access('Mari', '2026-02-02T00:00:00.5+02:00'), access('Jaan', '2026-02-01T00:00:00.000000+02:00')]),
      { result: [access('Mari', day('2026-02-01T22:00:00.500Z')), access('Jaan', day('2026-01-31T22:00:00Z'))] },
    ],
  ],
  'section 4.4, surveys': [
    [
      'lists surveys',
      (c) => all(c.surveys()),
      'GET /surveys/',
      page([{ id: 5, name: 'A', is_active: false }]),
      { result: [{ id: 5, name: 'A', is_active: false }] },
    ],
    [
      'reads a survey with every kind of question, in order',
      (c) => c.survey(5),
      'GET /surveys/5',
      survey,
      { result: { ...survey, questions, unreadable: [] } },
    ],
    [
      'reads questions whose optional settings are left out',
      (c) => c.survey(5),
      'GET /surveys/5',
      {
        ...survey,
        questions: [
          { ...choice, config: { choices: ['a'] } },
          { ...metric, config: scale },
        ],
      },
      {
        result: {
          ...survey,
          questions: [
            { ...unsaid, ...choice, config: { choices: ['a'], show_other: false } },
            { ...unsaid, ...metric, config: { ...scale, step: 1, label_start: '', label_mid: '', label_end: '' } },
          ],
          unreadable: [],
        },
      },
    ],
    [
      'reads a survey in which some questions are unreadable',
      (c) => c.survey(5),
      'GET /surveys/5',
      {
        ...survey,
        questions: [
          ...questions.slice(0, 1),
          { ...question, id: 8, answer_type: 'choice', config: { choices: 'mari@example.com' } },
          { ...question, id: 9, answer_type: 'hologram', config: {} },
          'Mari',
          ...questions.slice(1, 2),
        ],
      },
      {
        result: {
          ...survey,
          questions: questions.slice(0, 2),
          unreadable: [
            { id: 8, mismatches: ['questions.1.config.choices (expected array)'] },
            { id: 9, mismatches: ['questions.2.answer_type'] },
            { id: null, mismatches: ['questions.3 (expected object)'] },
          ],
        },
      },
    ],
  ],
};

for (const [section, table] of Object.entries(rows)) {
  describe(section, () => {
    test.each(table)('it %s', async (_, call, sent, answered, { body, status = 200, ...more } = {}) => {
      const service = await listen(() => ({ status, body: answered }));
      expect(await call(clientFor(service.url))).toEqual('result' in more ? more.result : answered);
      const [got] = service.received;
      expect(service.received).toHaveLength(1);
      expect(`${got?.method} ${got?.path}`).toBe(sent.replace(' ', ' /api'));
      // Section 5: the word Token, one space, the key. Section 1: Content-Type with every body, and only then.
      expect(got?.headers.authorization).toBe('Token k-1');
      expect(got?.headers.accept).toBe('application/json');
      expect(got?.headers['content-type']).toBe(body === undefined ? undefined : 'application/json');
      expect(got?.body === '' ? undefined : JSON.parse(got?.body ?? '')).toEqual(body);
    });
  });
}

describe('section 1, general rules', () => {
  test('it uses the production address unless told to use the test one', async () => {
    const production = await serving({ 'GET /api/surveys/': { body: page([]) } });
    const trial = await serving({ 'GET /api/surveys/': { body: page([]) } });
    await all(clientFor(production.url, { testBaseUrl: trial.url }).surveys());
    expect([production.received.length, trial.received.length]).toEqual([1, 0]);
    await all(clientFor(production.url, { testBaseUrl: trial.url, environment: 'test' }).surveys());
    expect([production.received.length, trial.received.length]).toEqual([1, 1]);
  });

  test('it tolerates a slash at the end of the configured address', async () => {
    const service = await serving({ 'GET /api/surveys/': { body: page([]) } });
    expect(await all(clientFor(`${service.url}/`).surveys())).toEqual([]);
  });

  test('it refuses plain HTTP but to this machine', () => {
    const http = FeedbackSettings.safeParse({
      baseUrl: 'http://feedback.example.com/api',
      apiKey: 'k',
      timeZone: 'UTC',
    });
    expect(http.error?.issues).toMatchObject([{ path: ['baseUrl'], message: expect.stringContaining('https://') }]);
  });

  const never = new Date(Number.NaN);
  const creating = (more: object) => (c: FeedbackClient) =>
    c.create({ campaign: 12, contact: phone, customFields: {}, ...more } as NewRequest);
  const filling = (customFields: object) => creating({ customFields });
  const mustBe = (name: string) => `${name} must be a day written YYYY-MM-DD.`;
  const noCampaign = 'the id of a campaign must be a whole number.';
  const noPage = 'page must be a whole number from 1 on';
  const noId = /The id of the feedback request is empty/;
  const wrong: [name: string, call: (c: FeedbackClient) => Promise<unknown>, says: string | RegExp][] = [
    ['not a date', (c) => c.campaign(12, { statsFrom: 'yesterday' }), mustBe('statsFrom')],
    ['a date and time', (c) => c.campaign(12, { statsTo: '2026-01-01T00:00:00' }), mustBe('statsTo')],
    ['a day not in the calendar', (c) => all(c.campaigns({ statsFrom: '2026-02-29' })), mustBe('statsFrom')],
    [
      'an odd order',
      (c) => c.customFieldStatistics({ campaign: 12, changedSince: '01-02-2026' }),
      mustBe('changedSince'),
    ],
    ['a first day that is none', (c) => c.customFieldStatistics({ campaign: 12, dateFrom: '1' }), mustBe('dateFrom')],
    ['a last day that is none', (c) => c.customFieldStatistics({ campaign: 12, dateTo: '' }), mustBe('dateTo')],
    ['a date without zeros', (c) => all(c.requests({ changedSince: '2026-1-2' })), mustBe('changedSince')],
    ['requests from no day', (c) => all(c.requests({ dateFrom: 'x' })), mustBe('dateFrom')],
    ['requests to no day', (c) => all(c.requests({ dateTo: '2026-02-30' })), mustBe('dateTo')],
    ['half a campaign', (c) => c.campaign(1.5), noCampaign],
    ['statistics of no campaign', (c) => c.customFieldStatistics({ campaign: Number.NaN }), noCampaign],
    ['requests of no campaign', (c) => all(c.requests({ campaign: Number.NaN })), noCampaign],
    ['half a survey', (c) => c.survey(1.5), 'the id of a survey must be a whole number.'],
    ['page 1.5', (c) => all(c.requests({ page: 1.5 })), noPage],
    ['page 0', (c) => all(c.requestPages({ page: 0 })), noPage],
    ['page NaN', (c) => all(c.exportPages({ page: Number.NaN })), noPage],
    ['an empty request id', (c) => c.request(''), noId],
    ['a request id that climbs', (c) => c.grade('..', 5), noId],
    ['a contact that climbs', (c) => c.mask({ kind: 'identifier', value: '..' }), /The contact is unusable/],
    ['a grade NaN', (c) => c.grade('7', Number.NaN), 'the grade must be a number'],
    ['an infinite grade', (c) => c.grade('7', Infinity), 'the grade must be a number'],
    ['a request in campaign NaN', creating({ campaign: Number.NaN }), noCampaign],
    ['a request in campaign 1.5', creating({ campaign: 1.5 }), noCampaign],
    ['a request in an infinite campaign', creating({ campaign: Infinity }), noCampaign],
    ['a request at no time', creating({ scheduled: never }), 'scheduled must be a valid date and time'],
    ['no deadline', (c) => c.create(plain, { sendDeadline: never }), 'sendDeadline must be a valid date and time'],
    ['a field value NaN', filling({ Store: 'x', Visits: Number.NaN }), 'the value given for Visits'],
    ['an infinite field value', filling({ Visits: -Infinity }), 'the value given for Visits'],
    ['a field value null', filling({ Store: null }), 'the value given for Store'],
    ['a field value undefined', filling({ Store: undefined }), 'the value given for Store'],
    ['a list for a field', filling({ Store: ['a'] }), 'the value given for Store'],
    ['two such fields', filling({ 'My store': {}, Visits: Number.NaN, ok: 1 }), 'the value given for My store, Visits'],
  ];
  test.each(wrong)('it sends nothing for %s', async (_name, call, says) => {
    const service = await listen(() => ({ status: 201, body: { id: 7 } }));
    const error = await failureOf(call(clientFor(service.url)));
    expect(error).toMatchObject({ advice: { kind: 'permanent' }, outcome: 'never-sent' });
    if (typeof says === 'string') expect(String(error)).toContain('Feedback service: nothing was sent: ');
    expect(String(error)).toMatch(says);
    expect(service.received).toEqual([]);
  });

  test.each([
    ['a timestamp without offset', { ...contactRecord, last_appeal: '2026-02-01T09:00:00' }, 'last_appeal'],
    ['text for a number', { ...contactRecord, num_appeals: '3' }, 'num_appeals (expected '],
    ['a missing key', { ...contactRecord, graylist: undefined }, 'graylist (expected object)'],
    ['a flaw deep inside', { ...contactRecord, avg_grade: [{ scale: '1-5', avg: 'secret' }] }, 'avg_grade.0.avg'],
    ['a list', [contactRecord], '(root) (expected object)'],
  ])('it names the place, not the value, of %s', async (_name, body, place) => {
    const service = await listen(() => ({ body }));
    const error = await failureOf(clientFor(service.url).contact(phone));
    expect(error).toMatchObject({ advice: { kind: 'permanent' }, outcome: 'refused', status: 200 });
    expect(String(error)).toContain(`GET /contacts/:contact answered 200 in another shape than specified, at ${place}`);
    expect(String(error)).not.toMatch(/37255512345|secret|2026/);
  });
});
