import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtIn } from '../../../../connectors/built-in.ts';
import { createFeedbackClient } from '../../../../core/feedback/client.ts';
import { FeedbackSettings } from '../../../../core/feedback/settings.ts';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { listCampaigns, showSurvey } from '../../../../worker/cli/catalogue.ts';
import { exportAll } from '../../../../worker/cli/export.ts';
import { livePorts } from '../../../../worker/cli/live-ports.ts';
import { report } from '../../../../worker/cli/report.ts';
import { listRequests } from '../../../../worker/cli/requests.ts';
import { startLoop } from '../../../support/loop.ts';
import { printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';

const timeZone = 'Pacific/Auckland';
const { redis, dir, beside, fresh } = useCommands();
const dayMs = 86_400_000;
const scales = { 1: [1, 2, 3, 4, 5], 2: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 3: [1, 2, 3] } as const;
const stores = ['Tallinn', 'Tartu', 'Pärnu, port'];
let feedback: Awaited<ReturnType<typeof startFeedbackStandin>>;
let options: { config: string; data: string; json: boolean; connectors: typeof builtIn; format: 'json' };

beforeAll(async () => {
  feedback = await startFeedbackStandin({ timeZone });
  const { standin } = feedback;
  standin.addAccount({ name: 'acme' });
  standin.addKey({ account: 'acme', key: 'key' });
  const customFields = [{ name: 'Store', fieldType: 'Choice', choices: stores }, { name: 'Agent' }] as const;
  for (const [id, metric] of [
    [1, 'csat'],
    [2, 'nps'],
    [3, 'avg'],
  ] as const) {
    const gradeList = [...scales[id]];
    standin.addCampaign({
      account: 'acme',
      id,
      name: `C${id}`,
      type: 'external',
      metric,
      gradeList,
      customFields: [...customFields],
    });
  }
  standin.addSurvey({
    account: 'acme',
    id: 9,
    name: 'After',
    questions: [{ id: 1, question: 'Was it quick?', answerType: 'bool', required: true }],
  });
  const config = join(dir, 'report.yaml');
  writeFileSync(
    config,
    `feedback: { baseUrl: "${feedback.url}/api", apiKey: key, timeZone: ${timeZone} }
redis: { path: ${redis.socket} }
sources:
  shop:
    connector: webhook
    signature: { kind: token, header: x-token, secrets: [none] }
    event: { record: id, closed: "true", closedAt: at }
    rules: [{ name: all, campaign: 1, contact: email }]
`,
  );
  options = { config, data: dir, json: true, connectors: builtIn, format: 'json' };
});
afterAll(() => feedback.close());

const Requests = fc.array(
  fc.record({
    campaign: fc.constantFrom(1, 2, 3),
    hours: fc.integer({ min: -90 * 24, max: 24 }),
    store: fc.constantFrom(...stores, undefined),
    agent: fc.constantFrom('Ann', '=Bo', undefined),
    grade: fc.option(fc.nat(10)),
  }),
  { minLength: 40, maxLength: 60 },
);

describe('the figures of report', () => {
  // Whatever was asked before stays: each run adds to it, and sums all of it anew.
  test('are those that the requests themselves give, over random requests and periods', async () => {
    const client = createFeedbackClient(
      FeedbackSettings.parse({ baseUrl: `${feedback.url}/api`, apiKey: 'key', timeZone }),
      livePorts,
    );
    const day = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
    const shift = (date: string, days: number) => new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);
    let serial = 0;
    const property = fc.asyncProperty(Requests, fc.nat(60), fc.nat(40), async (requests, back, length) => {
      for (const { campaign, hours, store, agent, grade } of requests) {
        const made = await client.create({
          campaign,
          contact: { kind: 'identifier', value: `customer-${++serial}` },
          scheduled: new Date(Date.now() + hours * 3_600_000),
          customFields: { ...(store && { Store: store }), ...(agent && { Agent: agent }) },
        });
        const scale: readonly number[] = scales[campaign as 1 | 2 | 3];
        if (grade !== null) await client.grade(made.id, scale[grade % scale.length] ?? 1);
      }
      const until = shift(day.format(new Date()), -back);
      const since = shift(until, -length);
      const all = feedback.standin.requests({});
      const within = (campaign: number, from: string, to: string) =>
        all.filter((one) => {
          const on = day.format(new Date(one.scheduled));
          return one.campaign === campaign && on >= from && on <= to;
        });
      const mean = (grades: readonly number[]) =>
        grades.length === 0 ? null : Math.round((100 * grades.reduce((a, b) => a + b, 0)) / grades.length) / 100;
      const gradesOf = (some: typeof all) => some.flatMap(({ grade }) => grade ?? []);
      const summed = (some: typeof all) => {
        const grades = gradesOf(some);
        const rate = some.length === 0 ? null : grades.length / some.length;
        return { asked: some.length, answered: grades.length, rate, average: mean(grades) };
      };
      const periods = [
        [since, until],
        [shift(since, -length - 1), shift(since, -1)],
      ] as const;
      const expected = [1, 2, 3].flatMap((campaign) => {
        const [now, before] = periods.map(([from, to]) => summed(within(campaign, from, to)));
        return now?.asked || before?.asked ? [{ campaign, since, until, now, before }] : [];
      });
      const { rows } = await printed(() => report({ ...options, since, until }));
      expect(rows).toMatchObject(expected);
      expect(rows).toHaveLength(expected.length);

      const ofStores = [1, 2, 3].flatMap((campaign) =>
        stores.flatMap((store) => {
          const [now, before] = periods.map(([from, to]) => {
            const found = within(campaign, from, to).filter(({ customFields }) => Object(customFields).Store === store);
            const average = mean(gradesOf(found)) ?? (campaign === 2 && found.length > 0 ? 0 : null);
            return { asked: found.length, average };
          });
          return now?.asked || before?.asked ? [{ campaign, by: { field: 'Store', value: store }, now, before }] : [];
        }),
      );
      const by = await printed(() => report({ ...options, since, until, by: 'Store' }));
      const inOrder = (some: readonly unknown[]) => some.map((one) => JSON.stringify(one)).toSorted();
      const parts = by.rows.map((row) => {
        const { campaign, by: value, now, before } = row as Record<string, Record<string, unknown>>;
        const figures = (of: Record<string, unknown> | undefined) => ({ asked: of?.asked, average: of?.average });
        return { campaign, by: value, now: figures(now), before: figures(before) };
      });
      expect(inOrder(parts)).toEqual(inOrder(ofStores));
    });
    await fc.assert(property, { numRuns: 5 });
  });

  test('stand in a table with a bar, and in a file for spreadsheets with what was before', async () => {
    const plain = { ...options, json: false };
    const { out } = await printed(() => report({ ...plain, format: 'table' }));
    expect(out).toMatch(/campaign +asked +answered +rate +average +index +change +by closeloop\n/);
    expect(out).toMatch(/\nC2 .*█/);
    const { out: file } = await printed(() => report({ ...plain, format: 'csv', by: 'Agent' }));
    expect(file.split('\r\n')[0]).toBe(
      'campaign id,campaign,field,value,asked,average,asked before,average before,change',
    );
    expect(file).toContain(",Agent,'=Bo,");
  });

  test('stand beside what journeys of closeloop say of the same days', async () => {
    // Of another account.
    await redis.handle.client.flushall();
    const loop = await startLoop(redis, { source: fresh() });
    for (const id of ['a', 'b']) {
      await loop.post(loop.vendor.close(id).delivery);
      await loop.journey(`${id}.1`, 'asked');
    }
    loop.feedback.standin.answer({ contact: 'a@example.com', grade: 4 });
    await loop.journey('a.1', 'written');
    const { rows } = await printed(() => report({ ...beside(loop), format: 'json' }));
    expect(rows).toMatchObject([
      { now: { asked: 2, answered: 1 }, closeloop: { asked: 2, answered: 1, responses: 1 } },
    ]);
    await loop.close();
  });

  test.each([
    [{ since: '2026-11-02', until: '2026-11-01' }, '--since 2026-11-02 is after --until 2026-11-01.'],
    [{ since: 'last week' }, '--since must be a day like 2026-11-01, today or yesterday'],
    [{ changedSince: 'today' }, '--changed-since is for "--by"'],
  ])('are refused for %o, with what would be right', async (wrong, message) => {
    await expect(report({ ...options, ...wrong })).rejects.toThrow(message);
  });

  test('that are none are said to be none', async () => {
    const { said } = await sayings(() => report({ ...options, json: false, format: 'table', by: 'Region' }));
    expect(said.join('')).toContain('no request has a value of "Region" that its campaign shows in reports');
  });
});

test('lists and exports of requests are narrowed to days of the account', async () => {
  const { rows: all } = await printed(() => exportAll({ ...options, what: 'requests' }));
  const { rows: some } = await printed(() => exportAll({ ...options, what: 'requests', since: 'today', campaign: 1 }));
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  const expected = (all as { scheduled: string; campaign: number }[]).filter(
    ({ scheduled, campaign }) => campaign === 1 && today.format(new Date(scheduled)) >= today.format(new Date()),
  );
  expect(some).toEqual(expected);
  const { rows: listed } = await printed(() => listRequests({ ...options, limit: 5, until: 'yesterday' }));
  expect(listed).toHaveLength(5);
});

test.each([
  ['requests', { changedSince: 'today' }, 'name it: feedback.operations.list.filters'],
  ['surveys', { since: 'today' }, '--since does not narrow surveys, which are exported whole.'],
  ['campaigns', { campaign: 3 }, '--campaign does not narrow campaigns: these do: --since, --until, --type, --metric.'],
] as const)('an export of %s by %o is refused with what would be right', async (what, wrong, message) => {
  await expect(exportAll({ ...options, what, ...wrong })).rejects.toThrow(message);
});

test('campaigns are listed with their figures, surveys shown with their questions', async () => {
  const plain = { ...options, json: false };
  expect((await printed(() => listCampaigns(plain))).out).toMatch(
    /^id +name +type +metric +sent +asked +answered\n +1 +C1 +external +csat/,
  );
  expect((await printed(() => listCampaigns({ ...options, metric: ['nps'] }))).rows).toMatchObject([{ id: 2 }]);
  expect((await printed(() => showSurvey({ ...plain, id: 9 }))).out).toMatch(/1 +Was it quick\? +bool +required/);
});
