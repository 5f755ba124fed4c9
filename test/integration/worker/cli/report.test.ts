import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtIn } from '../../../../connectors/built-in.ts';
import { campaignTypes } from '../../../../core/contact.ts';
import { createFeedbackClient } from '../../../../core/feedback/client.ts';
import { FeedbackSettings } from '../../../../core/feedback/settings.ts';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { listCampaigns, showSurvey } from '../../../../worker/cli/catalogue.ts';
import { exportAll } from '../../../../worker/cli/export.ts';
import { livePorts } from '../../../../worker/cli/live-ports.ts';
import { report } from '../../../../worker/cli/report.ts';
import { listRequests } from '../../../../worker/cli/requests.ts';
import { FollowUpLists } from '../../../../worker/journey/follow-up-lists.ts';
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

/** What requests of a campaign give when they are summed one by one. */
function figures(requests: readonly { grade: number | null }[], campaign: number) {
  const grades = requests.flatMap(({ grade }) => grade ?? []);
  const mean = (points: (grade: number) => number) =>
    grades.length === 0
      ? null
      : Math.round((100 * grades.reduce((sum, one) => sum + points(one), 0)) / grades.length) / 100;
  const { length: asked } = requests;
  const index =
    campaign === 1
      ? mean((grade) => (grade >= 4 ? 100 : 0))
      : campaign === 2
        ? mean((grade) => (grade >= 9 ? 100 : grade <= 6 ? -100 : 0))
        : null;
  return {
    asked,
    answered: grades.length,
    rate: asked === 0 ? null : grades.length / asked,
    average: mean((grade) => grade),
    index,
  };
}

type Figures = Pick<ReturnType<typeof figures>, 'index' | 'average'> | undefined;

function changeOf(now: Figures, before: Figures): number | null {
  const [is, was] = [now, before].map((of) => of?.index ?? of?.average ?? null);
  return typeof is !== 'number' || typeof was !== 'number' ? null : Math.round((is - was) * 100) / 100;
}

/** As many days, or as many whole months. */
function periodBeforeThat(since: string, until: string) {
  const day = (date: string) => new Date(`${date}T00:00:00Z`);
  const written = (date: Date) => date.toISOString().slice(0, 10);
  const after = new Date(day(until).getTime() + dayMs);
  const [from, length] = [day(since), after.getTime() - day(since).getTime()];
  const isMonths = from.getUTCDate() === 1 && after.getUTCDate() === 1;
  const months = 12 * (after.getUTCFullYear() - from.getUTCFullYear()) + after.getUTCMonth() - from.getUTCMonth();
  const earlier = isMonths
    ? new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() - months, 1))
    : new Date(from.getTime() - length);
  return { since: written(earlier), until: written(new Date(from.getTime() - dayMs)) };
}

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
      const periods = [{ since, until }, periodBeforeThat(since, until)];
      const expected = [1, 2, 3].flatMap((campaign) => {
        const [now, before] = periods.map((of) => figures(within(campaign, of.since, of.until), campaign));
        return now?.asked || before?.asked
          ? [{ campaign, since, until, now, before, change: changeOf(now, before) }]
          : [];
      });
      const { rows } = await printed(() => report({ ...options, since, until }));
      expect(rows).toMatchObject(expected);
      expect(rows).toHaveLength(expected.length);

      const ofStores = [1, 2, 3].flatMap((campaign) =>
        stores.flatMap((store) => {
          const [now, before] = periods.map((of) => {
            const ofStore = within(campaign, of.since, of.until).filter(
              ({ customFields }) => Object(customFields).Store === store,
            );
            const told = figures(ofStore, campaign);
            // Of a value that no request has nothing is told.
            return told.asked === 0 ? { ...told, answered: null } : told;
          });
          if (!now?.asked && !before?.asked) return [];
          return [{ campaign, by: { field: 'Store', value: store }, now, before, change: changeOf(now, before) }];
        }),
      );
      const by = await printed(() => report({ ...options, since, until, by: 'Store' }));
      const placeOf = (row: unknown) => {
        const { campaign, by: of } = Object(row);
        return `${campaign} ${of.value}`;
      };
      const inOrder = (some: readonly unknown[]) => some.toSorted((a, b) => placeOf(a).localeCompare(placeOf(b)));
      expect(inOrder(by.rows)).toMatchObject(inOrder(ofStores));
      expect(by.rows).toHaveLength(ofStores.length);

      // Steps that follow on each other sum up to the whole.
      const steps = await printed(() => report({ ...options, since, until, every: 'week' }));
      for (const { campaign, now } of expected) {
        const parts = steps.rows.map((row) => Object(row)).filter((row) => row.campaign === campaign);
        expect(parts.reduce((sum, row) => sum + row.now.asked, 0)).toBe(now?.asked);
        expect(parts.reduce((sum, row) => sum + row.now.answered, 0)).toBe(now?.answered);
        for (const { step, now: part } of parts)
          expect(part).toMatchObject(figures(within(campaign, step.since, step.until), campaign));
      }
    });
    // What a failing run has made stays: a smaller one proves nothing.
    await fc.assert(property, { numRuns: 5, endOnFailure: true });
  });

  test('stand in a table with a bar, and in a file for spreadsheets with what was before', async () => {
    const plain = { ...options, json: false };
    const { out } = await printed(() => report({ ...plain, format: 'table' }));
    expect(out).toMatch(/campaign +asked +answered +rate +average +index +change +by closeloop\n/);
    expect(out).toMatch(/\nC2 .*█/);
    const { out: file } = await printed(() => report({ ...plain, format: 'csv', by: 'Agent' }));
    expect(file.split('\r\n')[0]).toBe(
      'campaign id,campaign,field,value,asked,answered,rate,average,index,asked before,answered before,rate before,average before,index before,measure,change',
    );
    expect(file).toContain(",Agent,'=Bo,");
  });

  test('stand beside what journeys of closeloop say of the same days', async () => {
    // Of another account.
    await redis.handle.client.flushall();
    const loop = await startLoop(redis, { source: fresh() });
    for (const id of ['a', 'b']) {
      await loop.asked(id);
    }
    loop.feedback.standin.answer({ contact: 'a@example.com', grade: 4, comment: 'Quick\u001b[2J,\nand kind' });
    await loop.journey('a.1', 'written');
    const { rows } = await printed(() => report({ ...beside(loop), format: 'json', comments: 5 }));
    expect(rows).toMatchObject([
      { now: { asked: 2, answered: 1 }, closeloop: { asked: 2, answered: 1, responses: 1 } },
      { comment: 'Quick\u001b[2J,\nand kind', grade: 4, journey: `${loop.store.source}/a.1`, values: {} },
    ]);
    const plain = { ...beside(loop), json: false, format: 'table' as const };
    const { channel, hour } = Object(
      (await printed(() => report({ ...beside(loop), format: 'json', hours: true }))).rows[0],
    );
    expect(campaignTypes).toContain(channel);
    const hours = await printed(() => report({ ...beside(loop), format: 'json', hours: true, campaign: 12 }));
    expect(hours.rows).toEqual([
      { since: expect.any(String), until: expect.any(String), channel, hour, asked: 2, answered: 1, rate: 0.5 },
    ]);
    const at = `${String(hour).padStart(2, '0')}:00`;
    const { out: drawn } = await printed(() => report({ ...plain, hours: true }));
    expect(drawn).toMatch(new RegExp(`channel +hour +asked +answered +rate\\n.* ${at} +2 +1 +50 % +█{20}\\n`));
    const { out: file } = await printed(() => report({ ...plain, hours: true, format: 'csv' }));
    expect(file).toBe(`channel,hour,asked,answered,rate\r\n${channel},${hour},2,1,0.5\r\n`);
    const { said } = await sayings(() => report({ ...plain, hours: true, until: '2026-01-31' }));
    expect(said.join('')).toContain('closeloop asked nobody from ');
    const { out } = await printed(() => report({ ...plain, comments: 5, period: '7-days' }));
    expect(out).toContain(`${loop.store.source}/a.1\n  Quick [2J,\n  and kind\n`);
    expect(out).not.toContain('follow-ups');
    const openedAt = new Date();
    const followUp = { state: 'open', rule: 'unhappy', to: 'agent', openedAt, dueAt: openedAt } as const;
    await loop.store.update('a.1', (now) => ({ journey: { ...now, followUp }, trace: [] }));
    await new FollowUpLists(redis.handle.client, loop.store.source).relist('a.1', loop.store);
    const withFollowUp = await printed(() => report({ ...beside(loop), format: 'json' }));
    expect(withFollowUp.rows[1]).toMatchObject({
      followUps: { now: { opened: 1, overdue: 1 }, before: { opened: 0 } },
    });
    expect((await printed(() => report(plain))).out).toMatch(/\nfollow-ups +opened +done .*\n.* 1 +0 +0 +1 +– +0 +0\n/);
    expect((await printed(() => report({ ...plain, comments: 5, until: 'yesterday' }))).out).not.toContain('Quick');
    await expect(report({ ...plain, comments: 5, campaign: 99 })).rejects.toThrow('There is no campaign "99"');
    await expect(report({ ...plain, hours: true, campaign: 99 })).rejects.toThrow('There is no campaign "99"');
  });

  test.each([
    [{ since: '2026-11-02', until: '2026-11-01' }, '--since 2026-11-02 is after --until 2026-11-01.'],
    [{ since: 'last week' }, '--since must be a day like 2026-11-01, today or yesterday'],
    [{ changedSince: 'today' }, '--changed-since is for "--by"'],
    [{ by: 'Store', every: 'day' as const }, 'one of both'],
    [{ hours: true, comments: 3 }, '--hours stands alone'],
    [{ period: '7-days' as const, since: 'today' }, 'name one of both'],
    [{ comments: 3, json: false, format: 'csv' as const }, '--comments is not for "--format csv"'],
  ])('are refused for %o, with what would be right', async (wrong, message) => {
    await expect(report({ ...options, ...wrong })).rejects.toThrow(message);
  });

  test('that are none are said to be none', async () => {
    const long = { since: '2020-01-01', until: '2020-01-31' };
    const { said } = await sayings(() => report({ ...options, ...long, json: false, format: 'table', by: 'Agent' }));
    expect(said.join('')).toContain('no request has a value of "Agent" that its campaign shows in reports');
  });

  test.each([
    [{ campaign: 999, by: 'Store' }, 'There is no campaign "999"; there are: 1, 2, 3.'],
    [{ by: 'store' }, 'There is no field "store"; there are: Store, Agent.'],
    [{ by: 'Store,Region' }, 'There is no field "Region"; there are: Store, Agent.'],
  ])('of %o, which the service does not have, are refused with what there is', async (wrong, message) => {
    await expect(report({ ...options, ...wrong })).rejects.toThrow(message);
  });
});

test('an export holds every request as JSON shows it, a line each', async () => {
  const settings = FeedbackSettings.parse({ baseUrl: `${feedback.url}/api`, apiKey: 'key', timeZone });
  const lines: string[] = [];
  for await (const request of createFeedbackClient(settings, livePorts).requests()) lines.push(JSON.stringify(request));
  // More than are written at once.
  expect(lines.length).toBeGreaterThan(250);
  const { out } = await printed(() => exportAll({ ...options, what: 'requests' }));
  expect(out).toBe(lines.map((line) => `${line}\n`).join(''));
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
