import { expect, test } from 'vitest';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';
import { openFollowUps } from '../../../support/worker/follow-ups.ts';

const redis = useRedis();
let sources = 0;

async function startShown() {
  await redis.handle.client.flushall();
  const loop = await startLoop(redis, { source: `over-${++sources}`, general: 'dashboard: { port: 0 }' });
  return { loop, ...visitorOf(loop.app) };
}

test('the overview tells results, the newest answers, who waits and whether all is well, each with a link to more', async () => {
  const { loop, get } = await startShown();
  const { source } = loop.store;
  for (const [id, grade, comment] of [
    ['a', 5, 'Good'],
    ['b', 1, '<script>alert("bad")</script>'],
  ] as const) {
    await loop.post(loop.vendor.close(id, { store: 'Tallinn' }).delivery);
    await loop.journey(`${id}.1`, 'asked');
    loop.feedback.standin.answer({ contact: `${id}@example.com`, grade, comment });
    await loop.journey(`${id}.1`, 'written');
  }
  await loop.post(loop.vendor.close('c').delivery);
  await loop.journey('c.1', 'asked');
  const { status, text } = await get('/');
  expect(status).toBe(200);
  // One of two answers is good, and two of three have answered.
  expect(text).toMatch(/<a href="\/grades\?campaign=12">After support<\/a>[\s\S]*<b>50 %<\/b> CSAT/);
  expect(text).toMatch(/<dt>Response rate<\/dt><dd>67 %/);
  expect([...text.matchAll(/<p class="said">(.*?)<\/p>/g)].map(([, said]) => said)).toEqual([
    '&lt;script&gt;alert(&quot;bad&quot;)&lt;/script&gt;',
    'Good',
  ]);
  expect(text).not.toContain('<script>alert');
  expect(text).toContain('<a href="/answers?in.Store=Tallinn">Tallinn</a>');
  expect(text).toContain(`href="/journeys/${source}/b.1"`);
  expect(text).toContain(
    '<p class="notice good health" id="health" data-live="15"><a href="/operations">closeloop itself is all right</a></p>',
  );
  expect(text).toContain('<p class="notice good">Nobody.</p>');

  await loop.store.update('c.1', (now) => ({ journey: { ...now, state: 'parked', why: 'unclear' }, trace: [] }));
  expect((await get('/')).text).toContain('<a href="/operations">1 thing needs a person</a>');
  expect((await get('/?period=7-days')).text).toContain('href="/answers?period=7-days&amp;campaign=12"');
  expect((await get('/?period=7-days')).text).toContain('href="/answers?period=7-days&amp;in.Store=Tallinn"');
  const none = (await get('/?since=2020-01-01&until=2020-01-31')).text;
  expect(none).toContain('Nobody was asked in this period');
  expect(none).toContain('None in this period.');
});

test('the overview names those who wait, the most overdue first', async () => {
  const { loop, get } = await startShown();
  await openFollowUps(loop, redis, { a: 3, b: -3 });
  const { text } = await get('/');
  expect([...text.matchAll(/<a href="\/follow-ups\/[^/]+\/([ab])\.1">/g)].map(([, id]) => id)).toEqual(['b', 'a']);
  expect(text).toMatch(/2 hours overdue<\/span> <span class="quiet">nobody has taken it/);
});

test('an empty installation says what will be there, and where to look', async () => {
  const { get } = await startShown();
  const { status, text } = await get('/');
  expect(status).toBe(200);
  expect(text).toMatch(/Nobody was asked in this period[\s\S]*href="\/settings"/);
});

test('where the service is away the overview still has what is stored', async () => {
  const { loop, get } = await startShown();
  await openFollowUps(loop, redis, { a: -1 });
  await loop.feedback.close();
  const { status, text } = await get('/');
  expect(status).toBe(200);
  expect(text).toContain('The Feedback service did not give new figures');
  expect(text).toContain('much too late');
});
