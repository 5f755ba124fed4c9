import { describe, expect, test } from 'vitest';
import { envelope, type Service, service } from '../../../support/standins/feedback/service.ts';

const dayMs = 86_400_000;

/** Grades an external campaign's new request, scheduled `daysAgo`, through the API. */
async function graded(
  s: Service,
  campaign: number,
  grade: number | null,
  more: { daysAgo?: number; fields?: object; comment?: string } = {},
): Promise<number> {
  const scheduled = new Date(s.standin.now().getTime() - (more.daysAgo ?? 0) * dayMs).toISOString();
  const body = { campaign, identifier: 'x', scheduled, custom_fields: more.fields ?? {} };
  const { body: record } = await s.call('POST', '/appeals/', body);
  const id = Number(Object(record).id);
  if (grade !== null) expect((await s.call('POST', `/appeals/${id}/grade`, { grade })).status).toBe(200);
  if (more.comment !== undefined) await s.call('POST', `/appeals/${id}/comment`, { comment: more.comment });
  return id;
}

const statsOf = async (s: Service, campaign: number, query = ''): Promise<unknown> =>
  Object((await s.call('GET', `/appeals/campaigns/${campaign}${query}`)).body).stats;

async function several(): Promise<Service> {
  const s = await service();
  s.standin.addCampaign({ account: 'a', id: 1, type: 'sms', metric: 'csat' });
  s.standin.addCampaign({ account: 'a', id: 2, type: 'email', metric: 'nps' });
  s.standin.addCampaign({ account: 'a', id: 3, type: 'mixed', metric: 'avg', state: 'inactive' });
  s.standin.addCampaign({ account: 'a', id: 4, type: 'widget', metric: 'avg' });
  s.standin.addCampaign({ account: 'a', id: 5, type: 'external', metric: 'survey' });
  s.standin.addCampaign({ account: 'a', id: 6, type: 'email', metric: 'csat', state: 'draft' });
  s.standin.addCampaign({ account: 'b', id: 7, type: 'email', metric: 'csat' });
  return s;
}

describe('GET /appeals/campaigns', () => {
  const rows: [says: string, query: string, ids: number[]][] = [
    ["returns the account's campaigns, drafts never, inactive ones too", '', [1, 2, 3, 4, 5]],
    ['filters by type', '?type=email', [2]],
    ['takes several types', '?type=email&type=sms', [1, 2]],
    ['filters by metric', '?metric=avg', [3, 4]],
    ['takes several metrics', '?metric=csat&metric=nps', [1, 2]],
    ['takes both filters together', '?metric=avg&type=widget', [4]],
    ['is empty where nothing fits', '?metric=nps&type=widget', []],
  ];
  test.for(rows)('%s', async ([, query, ids]) => {
    const page = envelope.parse((await (await several()).call('GET', `/appeals/campaigns${query}`)).body);
    expect([page.count, page.results.map(({ id }) => id)]).toEqual([ids.length, ids]);
  });

  test.for(['type', 'metric'])('refuses a %s outside the list', async (name) => {
    const { status, body } = await (await several()).call('GET', `/appeals/campaigns?${name}=sms&${name}=fax`);
    const wrong = name === 'type' ? 'fax' : 'sms';
    const message = `Select a valid choice. ${wrong} is not one of the available choices.`;
    expect([status, body]).toEqual([400, { [name]: [message] }]);
  });

  test('pages like any list', async () => {
    const s = await service();
    for (let id = 1; id <= 1001; id += 1) s.standin.addCampaign({ account: 'a', id });
    const page = envelope.parse((await s.call('GET', '/appeals/campaigns?type=mixed&page=2')).body);
    expect(page).toMatchObject({
      count: 1001,
      next: null,
      previous: `${s.url}/api/appeals/campaigns?type=mixed&page=1`,
    });
    expect(page.results.map(({ id }) => id)).toEqual([1001]);
  });
});

describe('GET /appeals/campaigns/:id', () => {
  test('has the shape of a list entry, whole', async () => {
    const s = await service();
    s.standin.addCampaign({
      account: 'a',
      id: 12,
      name: 'Support',
      type: 'sms',
      metric: 'csat',
      gradeList: [1, 2, 3],
      sendFrom: '09:00:00',
      sendUntil: '20:30:00',
      sendDelay: 90,
      customFields: [
        { name: 'Store', fieldType: 'Choice', choices: ['A', 'B'], required: true },
        { name: 'Secret', personal: true, showInReport: false },
      ],
    });
    const expected = {
      id: 12,
      type: 'sms',
      metric: 'csat',
      name: 'Support',
      grade_list: [1, 2, 3],
      send_from: '09:00:00',
      send_until: '20:30:00',
      send_delay: 90,
      custom_fields: [
        { name: 'Store', field_type: 'Choice', required: true, choices: ['A', 'B'] },
        { name: 'Secret', field_type: 'Text', required: false, choices: [] },
      ],
      stats: {
        csat_index: 0,
        appeals_total: 0,
        appeals_graded: 0,
        appeals_commented: 0,
        average_grade: 0,
        grade_counts: { 1: 0, 2: 0, 3: 0 },
      },
    };
    expect((await s.call('GET', '/appeals/campaigns/12')).body).toEqual(expected);
    expect(envelope.parse((await s.call('GET', '/appeals/campaigns')).body).results).toEqual([expected]);
  });

  test("gives the account's times where the campaign has none, no delay as null, no fields and grades as empty", async () => {
    const s = await service();
    s.standin.addAccount({ name: 'c', sendFrom: '08:00:00', sendUntil: '21:00:00' });
    s.standin.addKey({ account: 'c', key: 'c' });
    s.standin.addCampaign({ account: 'c', id: 12, metric: 'survey' });
    const { body } = await s.call('GET', '/appeals/campaigns/12', undefined, { authorization: 'Token c' });
    expect(body).toMatchObject({
      send_from: '08:00:00',
      send_until: '21:00:00',
      send_delay: null,
      custom_fields: [],
      grade_list: [],
    });
  });

  test.for([
    ['does not exist', 99],
    ['is a draft', 6],
    ["is another account's", 7],
  ])('is 404 for a campaign that %s', async ([, id]) => {
    const s = await several();
    const expected = [404, { detail: 'No Campaign matches the given query.' }];
    const answer = await s.call('GET', `/appeals/campaigns/${id}`);
    expect([answer.status, answer.body]).toEqual(expected);
    const fields = await s.call('GET', `/appeals/custom-fields?campaign=${id}`);
    expect([fields.status, fields.body]).toEqual(expected);
  });
});

describe('campaign statistics', () => {
  const grades = [1, 3, 4, 5, 5];
  const rows: [metric: 'avg' | 'csat' | 'nps' | 'survey', gradeList: number[], grades: number[], expected: object][] = [
    ['avg', [1, 2, 3, 4, 5], grades, { average_grade: 3.6, grade_counts: { 1: 1, 2: 0, 3: 1, 4: 1, 5: 2 } }],
    [
      'csat',
      [1, 2, 3, 4, 5],
      grades,
      { csat_index: 60, average_grade: 3.6, grade_counts: { 1: 1, 2: 0, 3: 1, 4: 1, 5: 2 } },
    ],
    ['csat', [1, 2, 3], [1, 2, 3], { csat_index: 33.33, average_grade: 2, grade_counts: { 1: 1, 2: 1, 3: 1 } }],
    ['csat', [0, 1], [0, 1, 1], { csat_index: 66.67, average_grade: 0.67, grade_counts: { 0: 1, 1: 2 } }],
    [
      'nps',
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      [10, 9, 8, 6, 0],
      {
        nps_index: 0,
        average_grade: 6.6,
        grade_counts: { 0: 1, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 1, 7: 0, 8: 1, 9: 1, 10: 1 },
      },
    ],
    [
      'nps',
      [1, 2, 3, 4, 5],
      [1, 1, 5],
      { nps_index: -33.33, average_grade: 2.33, grade_counts: { 1: 2, 2: 0, 3: 0, 4: 0, 5: 1 } },
    ],
    ['avg', [0.5, 1, 1.5], [0.5, 1.5], { average_grade: 1, grade_counts: { '0.5': 1, 1: 0, '1.5': 1 } }],
    ['survey', [], [], { average_grade: 0, grade_counts: {} }],
  ];
  test.for(rows)('%s over %j: %j gives %j', async ([metric, gradeList, given, expected]) => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, type: 'external', metric, gradeList });
    for (const grade of given) await graded(s, 12, grade);
    await graded(s, 12, null);
    expect(await statsOf(s, 12)).toEqual({
      appeals_total: given.length + 1,
      appeals_graded: given.length,
      appeals_commented: 0,
      ...expected,
    });
  });

  test('a changed grade and a changed comment count once', async () => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, type: 'external', metric: 'avg' });
    const id = await graded(s, 12, 1, { comment: 'bad' });
    await s.call('POST', `/appeals/${id}/grade`, { grade: 5 });
    await s.call('POST', `/appeals/${id}/comment`, { comment: 'good' });
    expect(await statsOf(s, 12)).toEqual({
      appeals_total: 1,
      appeals_graded: 1,
      appeals_commented: 1,
      average_grade: 5,
      grade_counts: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 1 },
    });
  });

  const ranges: [query: string, total: number, average: number][] = [
    ['', 3, 3],
    ['?stats_from=2026-03-09', 2, 2],
    ['?stats_to=2026-03-09', 2, 4],
    ['?stats_from=2026-03-09&stats_to=2026-03-09', 1, 3],
    ['?stats_from=2026-03-11', 0, 0],
    ['?stats_from=2026-03-10&stats_to=2026-03-09', 0, 0],
  ];
  test.for(ranges)(
    '%s counts requests scheduled from and up to and including these days',
    async ([query, total, average]) => {
      const s = await service();
      s.standin.addCampaign({ account: 'a', id: 12, type: 'external', metric: 'avg' });
      await graded(s, 12, 5, { daysAgo: 2 });
      await graded(s, 12, 3, { daysAgo: 1 });
      await graded(s, 12, 1);
      expect(await statsOf(s, 12, query)).toMatchObject({ appeals_total: total, average_grade: average });
      const list = envelope.parse((await s.call('GET', `/appeals/campaigns${query}`)).body);
      expect(list.results[0]?.stats).toMatchObject({ appeals_total: total, average_grade: average });
    },
  );

  test("days are the account's: 23:30 UTC is the next day in Tallinn", async () => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, type: 'external' });
    await s.call('POST', '/appeals/', { campaign: 12, identifier: 'x', scheduled: '2026-03-08T22:30:00Z' });
    expect(await statsOf(s, 12, '?stats_to=2026-03-08')).toMatchObject({ appeals_total: 0 });
    expect(await statsOf(s, 12, '?stats_from=2026-03-09')).toMatchObject({ appeals_total: 1 });
  });

  test.for(['stats_from', 'stats_to'])('a malformed %s is 400 and named', async (name) => {
    const s = await several();
    for (const path of ['/appeals/campaigns', '/appeals/campaigns/1']) {
      for (const value of ['2026-02-30', '10.03.2026', '']) {
        const answer = await s.call('GET', `${path}?${name}=${value}`);
        expect([answer.status, answer.body]).toEqual([400, { [name]: ['Enter a valid date. Use YYYY-MM-DD.'] }]);
      }
    }
  });
});

describe('GET /appeals/custom-fields', () => {
  async function withFields(): Promise<Service> {
    const s = await service();
    s.standin.addCampaign({
      account: 'a',
      id: 12,
      type: 'external',
      customFields: [
        { id: 501, name: 'Store' },
        { id: 502, name: 'Ticket', showInReport: false },
        { id: 503, name: 'Gift', fieldType: 'Yes/No' },
      ],
    });
    await graded(s, 12, 2, { daysAgo: 2, fields: { Store: 'Tartu', Gift: true } });
    await graded(s, 12, 3, { daysAgo: 1, fields: { Store: 'Tartu', Ticket: '9' } });
    await graded(s, 12, 5, { fields: { Store: 'Tallinn' } });
    await graded(s, 12, null, { fields: { Store: 'Pärnu' } });
    return s;
  }
  const list = async (s: Service, query = ''): Promise<unknown> =>
    (await s.call('GET', `/appeals/custom-fields?campaign=12${query}`)).body;
  const tallinn = { value: 'Tallinn', count: 1, average_grade: 5 };
  const pärnu = { value: 'Pärnu', count: 1, average_grade: 0 };
  const gift = [{ value: true, count: 1, average_grade: 2 }];
  const answerOf = (store: object[], gifts: object[]): object[] => [
    { id: 501, name: 'Store', values: store },
    { id: 503, name: 'Gift', values: gifts },
  ];

  const rows: [says: string, query: string, store: object[], gifts: object[]][] = [
    [
      'is a plain array, best average first, with the fields shown in reports only',
      '',
      [tallinn, { value: 'Tartu', count: 2, average_grade: 2.5 }, pärnu],
      gift,
    ],
    [
      'date_from starts on that day',
      '&date_from=2026-03-09',
      [tallinn, { value: 'Tartu', count: 1, average_grade: 3 }, pärnu],
      [],
    ],
    ['date_to includes that day', '&date_to=2026-03-09', [{ value: 'Tartu', count: 2, average_grade: 2.5 }], gift],
    [
      'date_from and date_to work together',
      '&date_from=2026-03-09&date_to=2026-03-09',
      [{ value: 'Tartu', count: 1, average_grade: 3 }],
      [],
    ],
    [
      'changed_since today has what was graded today',
      '&changed_since=2026-03-10',
      [tallinn, { value: 'Tartu', count: 2, average_grade: 2.5 }],
      gift,
    ],
    ['changed_since tomorrow has nothing', '&changed_since=2026-03-11', [], []],
  ];
  test.for(rows)('%s', async ([, query, store, gifts]) => {
    expect(await list(await withFields(), query)).toEqual(answerOf(store, gifts));
  });

  test('changed_since looks at the change of the grade, not at the comment or the same grade again', async () => {
    const s = await withFields();
    const [first, second, third] = s.standin.requests().map(({ id }) => id);
    s.standin.moveClock({ advanceMs: dayMs });
    await s.call('POST', `/appeals/${first}/grade`, { grade: 4 });
    await s.call('POST', `/appeals/${second}/comment`, { comment: 'late' });
    await s.call('POST', `/appeals/${third}/grade`, { grade: 5 });
    expect(await list(s, '&changed_since=2026-03-11')).toEqual(
      answerOf([{ value: 'Tartu', count: 1, average_grade: 4 }], [{ value: true, count: 1, average_grade: 4 }]),
    );
    expect(await list(s)).toEqual(
      answerOf(
        [tallinn, { value: 'Tartu', count: 2, average_grade: 3.5 }, pärnu],
        [{ value: true, count: 1, average_grade: 4 }],
      ),
    );
  });

  test.for([
    ['campaign is missing', '', { campaign: ['Parameter "campaign" is required.'] }],
    ['campaign is no number', '?campaign=x', { campaign: ['A valid integer is required.'] }],
    ['date_from is no date', '?campaign=12&date_from=x', { date_from: ['Enter a valid date. Use YYYY-MM-DD.'] }],
    ['date_to is no date', '?campaign=12&date_to=x', { date_to: ['Enter a valid date. Use YYYY-MM-DD.'] }],
    [
      'changed_since is no date',
      '?campaign=12&changed_since=x',
      { changed_since: ['Enter a valid date. Use YYYY-MM-DD.'] },
    ],
  ] as const)('is 400 when %s', async ([, query, body]) => {
    const answer = await (await withFields()).call('GET', `/appeals/custom-fields${query}`);
    expect([answer.status, answer.body]).toEqual([400, body]);
  });

  test('is empty for a campaign without fields', async () => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12 });
    expect(await list(s)).toEqual([]);
  });

  test('counts the same with and without a range that holds everything', async () => {
    const s = await service({ seed: true });
    s.standin.addKey({ account: 'acme', key: 'key' });
    s.standin.fill({ campaign: 13, count: 500, graded: 0.5, days: 40 });
    const all = await s.call('GET', '/appeals/custom-fields?campaign=13');
    const ranged = await s.call('GET', '/appeals/custom-fields?campaign=13&date_from=2020-01-01');
    const byName = (body: unknown): unknown =>
      JSON.parse(JSON.stringify(body), (_, value: unknown) =>
        Array.isArray(value) ? value.map((one) => JSON.stringify(one)).sort() : value,
      );
    expect(byName(ranged.body)).toEqual(byName(all.body));
    expect(await statsOf(s, 13, '?stats_from=2020-01-01')).toEqual(await statsOf(s, 13));
  });
});
