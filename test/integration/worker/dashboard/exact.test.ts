import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { stepsOf } from '../../../../worker/reports/period.ts';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';

const redis = useRedis();
const timeZone = 'Europe/Tallinn';
const stores = ['Tallinn', 'Tartu', 'Pärnu', 'Narva'];
const campaigns = [
  { id: 71, metric: 'csat', gradeList: [1, 2, 3, 4, 5] },
  { id: 72, metric: 'nps', gradeList: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
  { id: 73, metric: 'avg', gradeList: [1, 2, 3, 4, 5] },
] as const;

type Metric = (typeof campaigns)[number]['metric'];

/** What a campaign's result is, by its definition. */
function resultOf(metric: Metric, grades: readonly number[]): string {
  if (grades.length === 0) return '–';
  const mean = (points: (grade: number) => number) => grades.reduce((sum, one) => sum + points(one), 0) / grades.length;
  const shown = (figure: number, digits: number) => String(Number(figure.toFixed(digits))).replace('-', '−');
  if (metric === 'avg')
    return shown(
      mean((grade) => grade),
      2,
    );
  if (metric === 'csat')
    return `${shown(
      mean((grade) => (grade >= 4 ? 100 : 0)),
      1,
    )} %`;
  return shown(
    mean((grade) => (grade >= 9 ? 100 : grade <= 6 ? -100 : 0)),
    1,
  );
}

const textsOf = (markup: string): string[] =>
  [...markup.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) => cell.replace(/<[^>]*>/g, '').trim());

test('of three campaigns with 20,000 requests every figure by week and by store is the sum over the service’s own state', async () => {
  const loop = await startLoop(redis, { source: 'exact', general: 'dashboard: { port: 0 }' });
  const { standin } = loop.feedback;
  const days = 40;
  for (const { id, metric, gradeList } of campaigns) {
    const customFields = [{ name: 'Store', fieldType: 'Choice' as const, choices: stores }];
    standin.addCampaign({
      ...{ account: 'acme', id, name: `Campaign ${id}`, type: 'email', metric },
      gradeList: [...gradeList],
      customFields,
    });
    standin.fill({ campaign: id, count: id === 71 ? 7_000 : 6_500, graded: 0.31, days });
  }
  const dayOf = (at: string) => Temporal.Instant.from(at).toZonedDateTimeISO(timeZone).toPlainDate().toString();
  const all = standin.requests().map((one) => ({ ...one, day: dayOf(one.scheduled) }));
  expect(all).toHaveLength(20_000);
  const until = dayOf(new Date().toISOString());
  const since = Temporal.PlainDate.from(until).subtract({ days: 27 }).toString();
  const { get } = visitorOf(loop.app);
  const counts = new Intl.NumberFormat('en-GB');

  const overview = (await get(`/?since=${since}&until=${until}`)).text;
  const grades = (await get(`/grades?since=${since}&until=${until}&by=Store`)).text;
  for (const { id, metric } of campaigns) {
    const own = all.filter((one) => one.campaign === id);
    const figures = (some: typeof own) => {
      const given = some.flatMap(({ grade }) => grade ?? []);
      return [counts.format(some.length), counts.format(given.length), resultOf(metric, given)];
    };
    const card =
      overview.split('<section class="score"').find((one) => one.includes(`aria-label="Campaign ${id}"`)) ?? '';
    const weeks = textsOf(card.slice(card.indexOf('<details>')));
    const expected = stepsOf({ since, until }, 'week').flatMap((week) =>
      figures(own.filter(({ day }) => day >= week.since && day <= week.until)),
    );
    // Behind the head; each row begins with its days.
    const shown = weeks.slice(4).filter((_, i) => i % 4 !== 0);
    expect([id, shown]).toEqual([id, expected]);

    const table =
      grades.split('<div class="wide"').find((one) => one.includes(`aria-label="Store, Campaign ${id}"`)) ?? '';
    const rows = [...table.matchAll(/<tr><th scope="row".*?<\/tr>/gs)].map(([row]) => textsOf(row));
    const wanted = stores.map((store) => {
      const some = own.filter(
        ({ day, customFields }) => day >= since && day <= until && Object.values(customFields).includes(store),
      );
      const [asked, answered, result] = figures(some);
      return [store, asked, answered, result];
    });
    const found = rows.map(([store = '', asked, answered, _rate, result]) => [store, asked, answered, result]);
    expect(found.sort()).toEqual(wanted.sort());
  }
});
