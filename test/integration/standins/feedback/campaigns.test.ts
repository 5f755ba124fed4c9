import { describe, expect, test } from 'vitest';
import { campaigns, envelope, type Service, service } from '../../../support/standins/feedback/service.ts';

/* Sections 2 and 4.1 of the specification: campaigns and their statistics. A row for each rule. */

const dayMs = 86_400_000;
const badDate = 'Enter a valid date. Use YYYY-MM-DD.';
const forbidden = { detail: 'You do not have permission to perform this action.' };
const noCampaign = { detail: 'No Campaign matches the given query.' };
const notAChoice = (value: string) => [`Select a valid choice. ${value} is not one of the available choices.`];
const notANumber = ['A valid integer is required.'];

/** Grades an external campaign's new request, scheduled `daysAgo`, through the API. */
async function graded(s: Service, grade: number | null, daysAgo = 0, custom_fields = {}): Promise<number> {
  const scheduled = new Date(s.standin.now().getTime() - daysAgo * dayMs).toISOString();
  const { id } = (await s.ask('POST /appeals/', { campaign: 12, identifier: 'x', scheduled, custom_fields })).body;
  if (grade !== null) expect((await s.ask(`POST /appeals/${id}/grade`, { grade })).status).toBe(200);
  return id;
}

const statsOf = async ({ ask }: Service, query = '') => (await ask(`GET /appeals/campaigns/12${query}`)).body.stats;

test.each<[says: string, query: string, ids: number[]]>([
  ['has inactive ones, never drafts', '', [1, 2, 3, 4, 5, 6, 9]],
  ['filters by type', '?type=mixed', [3]],
  ['takes several types', '?type=mixed&type=sms', [1, 3]],
  ['filters by metric', '?metric=avg', [3, 4, 5]],
  ['takes several metrics', '?metric=survey&metric=nps', [2, 6]],
  ['takes both filters together', '?metric=avg&type=widget', [4]],
  ['is empty where nothing fits', '?metric=nps&type=widget', []],
])('the list of campaigns %s', async (_says, query, ids) => {
  const { count, results } = envelope.parse((await (await campaigns()).ask(`GET /appeals/campaigns${query}`)).body);
  expect([count, results.map(({ id }) => id)]).toEqual([ids.length, ids]);
});

test.each<[call: string, status: number, answer: object]>([
  ['campaigns?type=sms&type=fax', 400, { type: notAChoice('fax') }],
  ['campaigns?metric=sms', 400, { metric: notAChoice('sms') }],
  ['campaigns?stats_from=2026-02-30', 400, { stats_from: [badDate] }],
  ['campaigns?stats_to=10.03.2026', 400, { stats_to: [badDate] }],
  ['campaigns/1?stats_from=', 400, { stats_from: [badDate] }],
  ['campaigns/1?stats_to=x', 400, { stats_to: [badDate] }],
  ['?campaign=x', 400, { campaign: notANumber }],
  ['?campaign=99', 404, noCampaign],
  ['?campaign=7', 404, noCampaign],
  ['?campaign=6', 403, forbidden],
  ['?campaign=8', 403, forbidden],
  ['campaigns/99', 404, noCampaign],
  ['campaigns/7', 404, noCampaign],
  ['campaigns/8', 404, noCampaign],
  ['custom-fields', 400, { campaign: ['Parameter "campaign" is required.'] }],
  ['custom-fields?campaign=x', 400, { campaign: notANumber }],
  ['custom-fields?campaign=99', 404, noCampaign],
  ['custom-fields?campaign=7', 404, noCampaign],
  ['custom-fields?campaign=8', 404, noCampaign],
  ['custom-fields?campaign=3&date_from=x', 400, { date_from: [badDate] }],
  ['custom-fields?campaign=3&date_to=x', 400, { date_to: [badDate] }],
  ['custom-fields?campaign=3&changed_since=x', 400, { changed_since: [badDate] }],
  ['custom-fields?campaign=1', 200, []],
])('%s is %i', async (call, status, answer) => {
  const { ask } = await campaigns();
  expect(await ask(`GET /appeals/${call}`)).toMatchObject({ status, body: answer });
});

describe('statistics of a campaign', () => {
  const to10 = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  test.each<['avg' | 'csat' | 'nps' | 'survey', scale: number[], given: number[], average: number, index?: number]>([
    ['avg', [1, 2, 3, 4, 5], [1, 3, 4, 5, 5], 3.6],
    ['avg', [0.5, 1, 1.5], [0.5, 1.5], 1],
    ['csat', [1, 2, 3, 4, 5], [1, 3, 4, 5, 5], 3.6, 60],
    ['csat', [1, 2, 3], [1, 2, 3], 2, 33.33],
    ['csat', [0, 1], [0, 1, 1], 0.67, 66.67],
    ['nps', to10, [10, 9, 8, 6, 0], 6.6, 0],
    ['nps', [1, 2, 3, 4, 5], [1, 1, 5], 2.33, -33.33],
    ['survey', [], [], 0],
  ])('%s over %j: %j gives the average %d and the index %d', async (metric, gradeList, given, average, index) => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, type: 'external', metric, gradeList });
    for (const grade of [...given, null]) await graded(s, grade);
    expect(await statsOf(s)).toEqual({
      ...{ appeals_total: given.length + 1, appeals_graded: given.length, appeals_commented: 0 },
      ...(index === undefined ? {} : { [`${metric}_index`]: index }),
      average_grade: average,
      grade_counts: Object.fromEntries(gradeList.map((grade) => [grade, given.filter((one) => one === grade).length])),
    });
  });

  const external = async (): Promise<Service> => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12, type: 'external', metric: 'avg' });
    return s;
  };

  test('count a changed grade and a changed comment once', async () => {
    const s = await external();
    const id = await graded(s, 1);
    for (const comment of ['bad', 'good']) await s.ask(`POST /appeals/${id}/comment`, { comment });
    await s.ask(`POST /appeals/${id}/grade`, { grade: 5 });
    expect(await statsOf(s)).toMatchObject({ appeals_graded: 1, appeals_commented: 1, grade_counts: { 1: 0, 5: 1 } });
  });

  test.each<[query: string, total: number, average: number]>([
    ['', 3, 3],
    ['?stats_from=2026-03-09', 2, 2],
    ['?stats_to=2026-03-09', 2, 4],
    ['?stats_from=2026-03-09&stats_to=2026-03-09', 1, 3],
    ['?stats_from=2026-03-11', 0, 0],
    ['?stats_from=2026-03-10&stats_to=2026-03-09', 0, 0],
  ])('%s counts %i requests, scheduled on these days', async (query, appeals_total, average_grade) => {
    const s = await external();
    for (const [daysAgo, grade] of [1, 3, 5].entries()) await graded(s, grade, daysAgo);
    expect(await statsOf(s, query)).toMatchObject({ appeals_total, average_grade });
    const [listed] = (await s.ask(`GET /appeals/campaigns${query}`)).body.results;
    expect(listed.stats).toMatchObject({ appeals_total, average_grade });
  });
});

describe('statistics of custom fields', () => {
  async function withFields(): Promise<Service> {
    const s = await service();
    const customFields = [
      { id: 501, name: 'Store' },
      { id: 502, name: 'Ticket', showInReport: false },
      { id: 503, name: 'Gift', fieldType: 'Yes/No' as const },
    ];
    s.standin.addCampaign({ account: 'a', id: 12, type: 'external', customFields });
    await graded(s, 2, 2, { Store: 'Tartu', Gift: true });
    await graded(s, 3, 1, { Store: 'Tartu', Ticket: '9' });
    await graded(s, 5, 0, { Store: 'Tallinn' });
    await graded(s, null, 0, { Store: 'Pärnu' });
    return s;
  }
  type Value = [value: string | boolean, count: number, average: number];
  const list = async ({ ask }: Service, query = ''): Promise<unknown> =>
    (await ask(`GET /appeals/custom-fields?campaign=12${query}`)).body;
  const answer = (...fields: [store: Value[], gifts: Value[]]) =>
    fields.map((values, index) => ({
      ...{ id: [501, 503][index], name: ['Store', 'Gift'][index] },
      values: values.map(([value, count, average_grade]) => ({ value, count, average_grade })),
    }));
  const tallinn: Value = ['Tallinn', 1, 5];
  const both: Value = ['Tartu', 2, 2.5];
  const pärnu: Value = ['Pärnu', 1, 0];
  const gift: Value = [true, 1, 2];

  test.each<[says: string, query: string, store: Value[], gifts: Value[]]>([
    ['are a plain array, best first, of fields shown in reports', '', [tallinn, both, pärnu], [gift]],
    ['start with date_from', '&date_from=2026-03-09', [tallinn, ['Tartu', 1, 3], pärnu], []],
    ['end with date_to', '&date_to=2026-03-09', [both], [gift]],
    ['take both dates', '&date_from=2026-03-09&date_to=2026-03-09', [['Tartu', 1, 3]], []],
    ['have what was graded since today', '&changed_since=2026-03-10', [tallinn, both], [gift]],
    ['have nothing that was graded since tomorrow', '&changed_since=2026-03-11', [], []],
  ])('%s', async (_says, query, store, gifts) => {
    expect(await list(await withFields(), query)).toEqual(answer(store, gifts));
  });
});
