import { expect, test } from 'vitest';
import { countRefused, putOff } from '../../../../worker/operations/delivery-counts.ts';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';

const redis = useRedis();

test('Operations shows what needs a person, and each source with what status tells of it', async () => {
  const source = 'today';
  const loop = await startLoop(redis, { source, general: 'dashboard: { port: 0 }' });
  const { get, submit, post } = visitorOf(loop.app);
  expect((await get('/operations')).text).toContain('closeloop itself is all right');

  await loop.post(loop.vendor.close('t1').delivery);
  const asked = await loop.journey('t1.1', 'asked');
  loop.feedback.standin.answer({ contact: 't1@example.com', grade: 5 });
  await loop.journey('t1.1', 'written');
  const { text } = await get('/operations');
  expect(text).toMatch(/href="\/journeys\?state=written"><b>1<\/b> On the record/);
  // Who was asked in a day is in no list: their journeys have gone on since.
  expect(text).not.toMatch(/>Asked<\/a>: /);
  // Asked one, answered one, response rate.
  expect(text).toMatch(/data-label="Asked">1<\/td><td[^>]*>1<\/td><td[^>]*>100 %<\/td>/);
  expect(text).not.toContain('none yet');

  const figures = async () => {
    const { text: page } = await get('/operations');
    const [, hours = ''] = page.split('aria-label="The last 24 hours"');
    const rows =
      hours
        .split('</table>')[0]
        ?.match(/<tr>.*?<\/tr>/gs)
        ?.slice(1) ?? [];
    return rows.map((one) =>
      [...one.matchAll(/data-label="(?:Deliveries|Asked|Failed)"[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell),
    );
  };
  expect(text.match(/aria-label="(Deliveries|Asked|Failed) in each of the last 24 hours/g)).toHaveLength(3);
  const sums = (rows: (string | undefined)[][]) =>
    [0, 1, 2].map((i) => rows.reduce((sum, cells) => sum + Number(cells[i]?.replace(/<[^>]*>/g, '')), 0));
  await expect.poll(async () => (await figures()).length).toBe(24);
  await loop.store.update('t1.1', () => ({
    journey: { ...asked, state: 'failed', why: 'refused', updatedAt: new Date() },
    trace: [],
  }));
  // What is counted stays good for a minute.
  await loop.hoursPass(1);
  await expect.poll(async () => sums(await figures())).toEqual([1, 1, 1]);
  const failed = (await figures()).find((cells) => cells[2] !== '0')?.[2];
  expect(failed).toMatch(/<a href="\/journeys\?state=failed&amp;since=([\d-]+)&amp;until=\1">1<\/a>/);

  await loop.store.update('t1.1', () => ({ journey: { ...asked, state: 'parked', why: 'unclear' }, trace: [] }));
  expect((await get('/operations')).text).toMatch(
    /href="\/journeys\?source=today&amp;state=parked">today: 1 journey needs you/,
  );

  expect(await post(`/sources/${source}/ask/pause`, { csrf: '', why: 'for a test' })).toMatchObject({ status: 403 });
  expect(await submit(`/sources/${source}/ask/pause`, { why: 'the <b>telephone</b> is out' })).toMatchObject({
    to: '/operations',
  });
  const { pauses, jobs } = loop.app.engine.pipelines.get(source) ?? expect.fail('no pipeline');
  expect(await pauses.isPausedByPerson('ask')).toBe(true);
  expect(await jobs.ask.queue.isPaused()).toBe(true);
  const paused = (await get('/operations')).text;
  expect(paused).toContain('the &lt;b&gt;telephone&lt;/b&gt; is out');
  expect(paused).toContain(`href="/sources/${source}/ask/resume"`);

  expect(await submit(`/sources/${source}/ask/resume`)).toMatchObject({ status: 303, to: '/operations' });
  expect(await pauses.isPausedByPerson('ask')).toBe(false);
  expect(await jobs.ask.queue.isPaused()).toBe(false);
  expect((await get('/settings')).text).toMatch(/>resume ask<\/td>[\s\S]*>pause ask<\/td>/);

  await loop.post(loop.vendor.close('t2', { customer: {} }).delivery);
  await loop.journey('t2.1', 'skipped');
  // What is counted stays good for a minute.
  await loop.hoursPass(1);
  await expect
    .poll(async () => (await get('/operations')).text)
    .toMatch(/href="\/journeys\?state=skipped&amp;reason=no-contact">no contact<\/a>/);

  for (const path of ['/sources/nobody/ask/pause', `/sources/${source}/erase/pause`, `/sources/${source}/ask/stop`]) {
    expect((await get(path)).status).toBe(404);
  }
});

test('deliveries that were put off need no person, as Operations and Overview say alike', async () => {
  const source = 'put-off';
  const loop = await startLoop(redis, { source, general: 'dashboard: { port: 0 }' });
  await countRefused(redis.handle.client, source, putOff('Redis does not answer'), 2);
  const { get } = visitorOf(loop.app);
  const { text } = await get('/operations');
  expect(text).toMatch(/<h2>To know<\/h2>[\s\S]*2 deliveries were put off[\s\S]*told to come again: Redis does not/);
  expect(text).not.toMatch(/Needs a person|says what to mend/);
  expect((await get('/')).text).toContain('1 thing to know');
});
