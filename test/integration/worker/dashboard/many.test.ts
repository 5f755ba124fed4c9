import { describe, expect, test } from 'vitest';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { passwords, users } from '../../../support/worker/dashboard/users.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';
import { failJourneys } from '../../../support/worker/failed-journeys.ts';

const redis = useRedis();
let sources = 0;

/** Journeys that the service refused, as a person meets them; mended at their vendor meanwhile. */
async function startFailed(ids: readonly string[], general: object = {}) {
  await redis.handle.client.flushall();
  const source = `many-${++sources}`;
  const loop = await startLoop(redis, { source, general: `dashboard: ${JSON.stringify({ port: 0, ...general })}` });
  await failJourneys(loop, ids);
  return { loop, source, ...visitorOf(loop.app) };
}

const unescaped = (address = '') => address.replaceAll('&amp;', '&');

describe('many journeys at once', () => {
  test('that stopped for one cause are one row, and all are replayed by one form, which is noted once', async () => {
    const ids = Array.from({ length: 30 }, (_, i) => `m${i}`);
    const { loop, source, get, submit } = await startFailed(ids);
    await expect
      .poll(async () => (await get('/operations')).text)
      .toMatch(/What stopped, by cause[\s\S]*the service refuses request \d+[\s\S]*>30<\/a>/);
    const { text } = await get('/operations');
    const at = unescaped(/href="(\/many\/replay\?[^"]+)"/.exec(text)?.[1]);
    const confirm = await get(at);
    expect(confirm.text).toContain('Replay 30 journeys?');
    expect(confirm.text).toContain('And 10 more.');
    expect((await get(at.replace('/many/replay', '/journeys'))).text.match(/name="j\./g)).toHaveLength(30);
    const fields = Object.fromEntries(new URL(at, 'http://x').searchParams);
    expect(fields).toMatchObject({ source, state: 'failed' });
    const { status, to } = await submit(at, fields);
    expect([status, to]).toEqual([303, expect.stringContaining('did=replay&done=30&refused=0&left=0')]);
    expect((await get(to)).text).toContain('30 journeys were taken up again.');
    for (const id of ids) await loop.journey(`${id}.1`, 'asked');
    expect(loop.feedback.standin.requests()).toHaveLength(30);
    const settings = (await get('/settings')).text;
    expect(settings.match(/>replay of 30 journeys<\/td>/g)).toHaveLength(1);
    expect(settings).toContain(`all that fit: ${source} failed`);
    // Looked at again, there is none.
    expect((await get(at)).text).toContain('No journey of these can have that.');
  });

  test('that were selected have it alone; those that can not have it are left as they are, and told', async () => {
    const { loop, source, get, submit } = await startFailed(['a', 'b', 'c']);
    await loop.post(loop.vendor.close('d').delivery);
    await loop.journey('d.1', 'asked');
    const selected = { [`j.${source}/a.1`]: 'on', [`j.${source}/d.1`]: 'on', [`j.${source}/none.1`]: 'on' };
    const at = `/many/cancel?${new URLSearchParams(selected)}`;
    expect((await get(at)).text).toContain('Cancel 3 journeys?');
    const { to } = await submit(at, { ...selected, why: 'the shop is closed' });
    // The service has sent d's request; the third was never there.
    expect(to).toContain('done=1&refused=2&left=0');
    expect(await loop.store.get('a.1')).toMatchObject({ state: 'cancelled', why: 'the shop is closed' });
    expect((await loop.store.get('b.1'))?.state).toBe('failed');
  });

  test.each<[string, (source: string) => Record<string, string>]>([
    ['nothing', () => ({})],
    ['nothing, in a filtered list,', (source) => ({ source, state: 'failed' })],
    ['all of no filter', () => ({ all: 'yes' })],
    ['all of a state that there is not', () => ({ all: 'yes', state: 'every' })],
  ])('are left alone by a form in which a person has selected %s, and nothing is noted', async (_, fieldsOf) => {
    const { loop, source, get, submit } = await startFailed(['a']);
    const fields = fieldsOf(source);
    const list = (await get('/journeys?state=failed')).text;
    expect(list).toContain('<input type="hidden" name="state" value="failed">');
    const at = `/many/cancel?${new URLSearchParams(fields)}`;
    expect((await get(at)).text).toContain('Select some first');
    const csrfAt = `/many/cancel?${new URLSearchParams({ [`j.${source}/a.1`]: 'on' })}`;
    const { status, text } = await submit(csrfAt, fields);
    expect([status, text]).toEqual([200, expect.stringContaining('Select some first')]);
    expect((await loop.store.get('a.1'))?.state).toBe('failed');
    expect((await get('/settings')).text).not.toMatch(/cancel of/);
  });

  test('are not for who may only look, nor for a form of elsewhere', async () => {
    const { loop, get, post, submit } = await startFailed(['a'], { users });
    await submit('/login', { name: 'bob', password: passwords.bob });
    expect((await get('/journeys')).text).not.toMatch(/\/many\/|checkbox/);
    expect((await get('/many/replay?state=failed&all=yes')).status).toBe(403);
    expect(await post('/many/replay', { state: 'failed', all: 'yes' })).toMatchObject({ status: 403 });
    const anna = visitorOf(loop.app);
    await anna.submit('/login', { name: 'anna', password: passwords.anna });
    expect(await anna.post('/many/replay', { state: 'failed', all: 'yes', csrf: 'A'.repeat(43) })).toMatchObject({
      status: 403,
    });
    expect((await loop.store.get('a.1'))?.state).toBe('failed');
    expect((await anna.get('/many/explode')).status).toBe(404);
  });
});
