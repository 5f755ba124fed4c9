import { describe, expect, test } from 'vitest';
import type { FeedbackClient } from '../../../../../core/feedback/client.ts';
import type { FeedbackRequest } from '../../../../../core/feedback/request-form.ts';
import { collect } from '../../../../../worker/pipeline/collect/collect.ts';
import type { Narrowed } from '../../../../../worker/pipeline/collect/ways.ts';
import { campaign as aCampaign, request as aRequest } from '../../../../support/core/feedback/samples.ts';
import { overriding, useManual } from '../../../../support/manual.ts';
import { asked, collectingCost } from '../../../../support/worker/pipeline/many-requests.ts';

const service = useManual();
const { redis, unitContext } = service;

test('one new grade among a few open requests of very many costs 5 % of the calls of a whole export, at most', async () => {
  const { context, engine } = unitContext();
  const one = (campaign: number) => engine.collecting.stage.run({ campaign });
  const town = { context, standin: service.standin, collect: one };
  const cost = await collectingCost(town, { requests: 60_000, open: 120 });
  expect(cost).toMatchObject({ grade: 4, unchanged: 1 });
  expect(cost.whole).toBeGreaterThanOrEqual(60);
  expect(cost.changed).toBeLessThanOrEqual(cost.whole * 0.05);
});

type Order = 'rising' | 'falling' | 'none';

/** A campaign of 5,000 requests in pages of a hundred, made a minute after each other; `asked` of them wait for an answer. */
async function exporting(order: Order, isWaiting: (n: number) => boolean) {
  const town = unitContext();
  const from = Date.now() - 5_100 * 60_000;
  const rows: FeedbackRequest[] = Array.from({ length: 5_000 }, (_, n) => ({
    ...aRequest,
    id: String(10_000 + n),
    campaign: 112,
    phone: null,
    email: `c${n}@example.com`,
    scheduled: new Date(from + n * 60_000),
    grade: n % 3 === 0 && !isWaiting(n) ? 4 : null,
  }));
  const calls: string[] = [];
  const listed = () => (order === 'rising' ? rows : order === 'falling' ? rows.toReversed() : shuffled(rows));
  const feedback = overriding<FeedbackClient>(town.context.feedback, {
    campaign: async () => ({ ...aCampaign, type: 'email', metric: 'avg', id: 112, stats: statsOf(rows) }) as never,
    request: async (id) => {
      calls.push('get');
      return rows.find((row) => row.id === id) ?? expect.fail('no request');
    },
    requestPages: async function* (query = {}) {
      const { page = 1, campaign: _, contact: _1, ...named } = query;
      const all = listed();
      for (let at = (page - 1) * 1_000; at < all.length; at += 1_000) {
        calls.push(['page', ...Object.keys(named)].join(' '));
        yield { count: all.length, results: all.slice(at, at + 1_000), unreadable: [] };
      }
    },
  });
  for (const [n, { id, email, scheduled }] of rows.entries()) {
    if (isWaiting(n)) await asked({ id, email: email ?? '', scheduled: scheduled ?? new Date() }, town.context);
  }
  /** One pass. @returns its calls beside the one for the campaign */
  const pass = async (more: { narrowed?: Narrowed } = {}) => {
    calls.length = 0;
    const { clock, log, alert } = town.context;
    const sources = async () => [town.context];
    const rest = { sources, clock, log, alert, fullEveryMs: 3_600_000, lastErrors: new Map<number, string>() };
    await collect({ campaign: 112 }, { redis: redis.handle.client, feedback, ...rest, ...more });
    return [...calls];
  };
  const answer = (n: number, change: Partial<FeedbackRequest> = { grade: 5 }) => Object.assign(rows[n] ?? {}, change);
  const answerOf = async (n: number) => (await town.store.get(`${10_000 + n}.1`))?.answer;
  return { pass, answer, answerOf, rows };
}

function statsOf(rows: readonly FeedbackRequest[]) {
  const graded = rows.filter(({ grade }) => grade !== null);
  const grade_counts = Object.fromEntries(
    [1, 2, 3, 4, 5].map((grade) => [String(grade), graded.filter((row) => row.grade === grade).length]),
  );
  const appeals_commented = rows.filter(({ comment }) => comment !== null).length;
  return { appeals_total: rows.length, appeals_graded: graded.length, appeals_commented, grade_counts };
}
/** Always in the same order. */
const shuffled = <T>(rows: readonly T[]): T[] => rows.toSorted((_, b) => ((JSON.stringify(b).length * 7919) % 3) - 1);
const whole = Array.from({ length: 5 }, () => 'page');
const newest = (n: number) => n >= 4_850;

describe('a pass over a campaign whose counts have changed', () => {
  test.each(['rising', 'falling'] as const)('it reads the newest pages of a %s export only', async (order) => {
    const { pass, answer, answerOf } = await exporting(order, newest);
    expect(await pass()).toEqual(whole);
    expect(await pass()).toEqual([]);
    answer(4_990);
    answer(4_850, { grade: 2, comment: 'slow' });
    expect(await pass()).toEqual(['page']);
    expect([await answerOf(4_990), await answerOf(4_850)]).toMatchObject([{ grade: 5 }, { grade: 2, comment: 'slow' }]);
    // What came a moment ago is still looked at: a comment follows its grade.
    answer(4_990, { comment: 'and friendly' });
    expect(await pass()).toEqual(['page']);
    expect(await answerOf(4_990)).toMatchObject({ grade: 5, comment: 'and friendly' });
  });

  test('it finds what was made since, on the pages that were added', async () => {
    const { pass, answer, answerOf, rows } = await exporting('rising', newest);
    await pass();
    for (let n = 5_000; n < 6_500; n++)
      rows.push({ ...(rows[0] ?? expect.fail()), id: String(10_000 + n), grade: null });
    answer(4_900);
    expect(await pass()).toEqual(['page', 'page', 'page']);
    expect(await answerOf(4_900)).toMatchObject({ grade: 5 });
  });

  test('it reads a few requests one by one where the export is in no order', async () => {
    const { pass, answer, answerOf } = await exporting('none', (n) => n % 2_000 === 500);
    expect(await pass()).toEqual(whole);
    answer(2_500);
    expect(await pass()).toEqual(['get', 'get', 'get']);
    expect(await answerOf(2_500)).toMatchObject({ grade: 5 });
  });

  const hidden: [order: Order, isWaiting: (n: number) => boolean][] = [
    ['rising', newest],
    ['falling', newest],
    ['none', (n) => n % 2_000 === 500],
  ];
  test.each(hidden)('it reads the whole export where the counts tell of more than it has met: %s', async (...given) => {
    const { pass, answer, answerOf } = await exporting(...given);
    await pass();
    const [open = 0] = Array.from({ length: 5_000 }, (_, n) => n).filter(given[1]);
    answer(open);
    // Somebody else's, long ago: nothing of ours changes with it.
    answer(3, { grade: 1 });
    const calls = await pass();
    expect(calls.slice(-5)).toEqual(whole);
    expect(calls.length).toBeGreaterThan(5);
    expect(await answerOf(open)).toMatchObject({ grade: 5 });
    expect(await pass()).toEqual([]);
  });

  test('it leaves the rest to the next pass where more is answered while it reads', async () => {
    const { pass, answer, rows } = await exporting('none', (n) => n % 2_000 === 500);
    await pass();
    answer(500);
    answer(3, { grade: 1 });
    const last = rows[4_500] ?? expect.fail('no request');
    // Whoever reads it is followed by its answer.
    const id = Object.getOwnPropertyDescriptor(last, 'id')?.value;
    let reads = 0;
    Object.defineProperty(last, 'id', {
      enumerable: true,
      get: () => {
        if (++reads === 1) answer(4_600, { grade: 1 });
        return id;
      },
    });
    expect(await pass()).toEqual(['get', 'get', 'get']);
    expect((await pass()).slice(-5)).toEqual(whole);
  });

  const filters: [narrowed: Narrowed, expected: string][] = [
    [{ changedSince: true, dateFrom: false }, 'page changedSince'],
    [{ changedSince: false, dateFrom: true }, 'page dateFrom'],
  ];
  test.each(filters)(
    'it lets the service narrow the list where the configuration names how: %j',
    async (narrowed, call) => {
      const { pass, answer, answerOf } = await exporting('rising', newest);
      await pass({ narrowed });
      answer(4_900);
      expect(new Set(await pass({ narrowed }))).toEqual(new Set([call]));
      expect(await answerOf(4_900)).toMatchObject({ grade: 5 });
    },
  );
});
