import { describe, expect, test } from 'vitest';
import { createFeedbackClient } from '../../../../core/feedback/client.ts';
import { FeedbackSettings } from '../../../../core/feedback/settings.ts';
import { livePorts } from '../../../../worker/cli/live-ports.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { type Loop, startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';
import { claimOf } from '../../../support/worker/journey/stores.ts';

const redis = useRedis();
let sources = 0;

async function startShown(feedback?: Loop['feedback']) {
  await redis.handle.client.flushall();
  const loop = await startLoop(redis, {
    source: `grades-${++sources}`,
    general: 'dashboard: { port: 0 }',
    ...(feedback && { feedback }),
  });
  const settings = { baseUrl: `${loop.feedback.url}/api`, apiKey: 'demo-key', timeZone: 'Europe/Tallinn' };
  const client = createFeedbackClient(FeedbackSettings.parse(settings), livePorts);
  let customers = 0;
  const scale = Array.from({ length: 11 }, (_, i) => i);
  loop.feedback.standin.addCampaign({
    account: 'acme',
    id: 40,
    name: 'After <b>delivery</b>',
    type: 'external',
    metric: 'nps',
    gradeList: scale,
    customFields: [{ name: 'Shop' }],
  });
  const ask = async (shop: string, grade?: number, daysAgo = 0, campaign = 40) => {
    const { id } = await client.create({
      campaign,
      contact: { kind: 'identifier', value: `customer-${++customers}` },
      scheduled: new Date(Date.now() - daysAgo * 86_400_000),
      customFields: { Shop: shop },
    });
    if (grade !== undefined) await client.grade(id, grade);
  };
  return { loop, client, ask, ...visitorOf(loop.app) };
}

/** Cells of the row of this name, as text. */
function rowOf(text: string, name: string): string[] {
  const row = text.split('<tr').find((one) => one.includes(`>${name}<`)) ?? expect.fail(`no row ${name}`);
  return [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) =>
    cell
      .replace(/<[^>]*>/g, '')
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

describe('the grades', () => {
  test('of a period stand beside those of the one before, by campaign and by each value of a field', async () => {
    const { ask, get } = await startShown();
    for (const grade of [10, 9, 3]) await ask('Tallinn', grade);
    await ask('Tallinn');
    await ask('<i>Tartu</i>', 8);
    await ask('Tallinn', 0, 35);
    const { status, text } = await get('/grades');
    expect(status).toBe(200);
    // Two promoters, one passive, one detractor; before: one detractor.
    expect(text).toMatch(/<b>25<\/b> NPS/);
    expect(text).toContain('up 125');
    expect(text).toContain('href="/answers?campaign=40&amp;in.Shop=Tallinn"');
    expect(rowOf(text, 'Tallinn')).toEqual([
      'Tallinn few answers',
      '4',
      '3',
      '75 %',
      '33.3',
      '',
      '▲ up 133.3 from −100',
    ]);
    expect(rowOf(text, '&lt;i&gt;Tartu&lt;/i&gt;').slice(1, 5)).toEqual(['1', '1', '100 %', '0']);
    expect(text).toContain('After &lt;b&gt;delivery&lt;/b&gt;');
    expect(text).not.toMatch(/<i>|<b>delivery/);
    // Of a period without requests.
    const none = await get('/grades?since=2020-01-01&until=2020-01-31');
    expect(none.text).toContain('Nobody was asked in this period');
    for (const odd of [
      'since=2020-02-31',
      // Every hour of a period is looked at.
      'since=0001-01-01&until=9999-12-31',
      'since=2027-01-01&until=2020-01-01',
      'campaign=x&grade=%00&by=Nothing&period=ever',
    ])
      expect((await get(`/grades?${odd}`)).status).toBe(200);
    expect((await get('/grades?by=-')).text).not.toContain('By Shop');
  });

  test('of two hundred shops are shown of the most asked, with the others as one; the file has each', async () => {
    const { ask, get } = await startShown();
    const long = `shop ${'x'.repeat(300)}`;
    const formula = '=HYPERLINK("http://evil.example")';
    const shops = [long, formula, ...Array.from({ length: 198 }, (_, i) => `shop ${i}`)];
    for (const shop of shops) await ask(shop, 9);
    for (let i = 0; i < 19; i++) await ask(`shop ${i}`);
    await ask(long, 0);
    const { text } = await get('/grades?by=Shop&campaign=40');
    const rows = [...text.matchAll(/<th scope="row" class="ref">/g)];
    // With the others together.
    expect(rows).toHaveLength(21);
    expect(rowOf(text, '180 others together').slice(1, 5)).toEqual(['180', '180', '100 %', '100']);
    expect(rowOf(text, long).slice(1, 5)).toEqual(['2', '2', '100 %', '0']);
    const file = await get('/grades.csv?by=Shop&campaign=40&period=30-days');
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(file.headers.get('content-disposition')).toMatch(
      /^attachment; filename="closeloop-grades-by-shop-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d\.csv"$/,
    );
    const lines = file.text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(201);
    expect(file.text).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
  });

  test('by a field are shown of the campaigns most asked in; the file has all of them', async () => {
    const { loop, ask, get } = await startShown();
    const ids = [41, 42, 43, 44, 45, 46, 47];
    for (const id of ids) {
      const campaign = { account: 'acme', id, name: `Campaign ${id}`, type: 'external', metric: 'avg' } as const;
      loop.feedback.standin.addCampaign({ ...campaign, gradeList: [1, 2, 3], customFields: [{ name: 'Shop' }] });
      for (let i = 0; i < id - 40; i++) await ask(`shop of ${id}`, 3, 0, id);
    }
    const { text } = await get('/grades?by=Shop');
    expect(text).toContain('Of the 6 campaigns most asked in');
    expect(text).not.toContain('shop of 41');
    const lines = (await get('/grades.csv?by=Shop')).text.trimEnd().split('\r\n').slice(1);
    expect(ids.filter((id) => !lines.some((line) => line.includes(`shop of ${id}`)))).toEqual([]);
  });
});

test('the response by hour of asking is shown by channel, too, where there are several', async () => {
  const { loop, client, ask, get } = await startShown();
  loop.feedback.standin.addCampaign({ account: 'acme', id: 41, name: 'Texts', type: 'sms' });
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  let journeys = 0;
  /** At this hour, UTC. */
  const asked = async (campaign: number, hour: string, isAnswered: boolean) => {
    const { journey } = await loop.store.getOrCreate(claimOf(`h${++journeys}`, 'c', `h${journeys}`), []);
    const askedAt = new Date(`${yesterday}T${hour}:10:00Z`);
    const answer = isAnswered ? { grade: 3, comment: null, seenAt: askedAt, version: 1 } : undefined;
    for (const [state, more] of [
      ['waiting', { campaign }],
      ['asked', { askedAt }],
      ...(answer ? ([['answered', { answer }]] as const) : []),
    ] as const)
      await loop.store.update(journey.id, (one) => ({ journey: step(one, state, askedAt, more), trace: [] }));
  };
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Tallinn', hour: '2-digit', hourCycle: 'h23' });
  const [early, late] = ['06', '15'].map((hour) => `${clock.format(new Date(`${yesterday}T${hour}:10:00Z`))}:00`);
  await ask('Tallinn', 9);
  for (const isAnswered of [true, true, false, false]) await asked(40, '06', isAnswered);
  await asked(40, '15', true);
  const alone = await get('/grades');
  expect(alone.text).toContain('(all by a channel of your own)');
  expect(alone.text).not.toContain('<figcaption>Of those asked by ');
  await client.create({ campaign: 41, contact: { kind: 'phone', value: '+37255512345' }, customFields: {} });
  await asked(41, '15', false);
  await asked(41, '15', true);
  const { text } = await get('/grades?period=7-days');
  const charts = text.match(/<svg class="line"[^>]*aria-label="Response by hour.*?<\/svg>/gs) ?? [];
  expect(charts.map((chart) => /aria-label="([^"]*)"/.exec(chart)?.[1])).toEqual([
    'Response by hour of asking; the table below has the figures',
    'Response by hour of asking, by a channel of your own; the table below has the figures',
    'Response by hour of asking, by text message; the table below has the figures',
  ]);
  // Where nobody was asked by text message there is no bar.
  expect(charts.map((chart) => chart.match(/<rect/g)?.length)).toEqual([2, 2, 1]);
  const [, all = '', own = '', byText = ''] = text
    .split('aria-label="Response by hour of asking')
    .filter((one) => !one.startsWith('; the table') && !/^, by [^;"]*; the table/.test(one));
  expect(rowOf(all, early ?? '')).toEqual([early, '4', '2', '50 %']);
  expect(rowOf(all, late ?? '')).toEqual([late, '3', '2', '67 %']);
  expect(rowOf(own, late ?? '')).toEqual([late, '1', '1', '100 %']);
  expect(rowOf(byText, late ?? '')).toEqual([late, '2', '1', '50 %']);
  expect(byText).not.toContain(`>${early}<`);
});

test('where the service is away the page says so, and shows what is stored', async () => {
  const { loop, get } = await startShown();
  await loop.post(loop.vendor.close('d1').delivery);
  await loop.journey('d1.1', 'asked');
  loop.feedback.standin.answer({ contact: 'd1@example.com', grade: 5 });
  await loop.journey('d1.1', 'written');
  const { text: seen } = await get('/grades');
  expect(seen).toContain('After support');
  await loop.feedback.close();
  const known = await get('/grades');
  expect(known.text).toContain('After support');
  const { status, text } = await get('/grades?period=7-days');
  expect(status).toBe(200);
  expect(text).toContain('The Feedback service did not give new figures');
  expect(rowOf(text, '12')).toEqual(['12', '1', '1', '100 %']);
  expect((await get('/grades.csv?period=7-days')).status).toBe(503);
});
