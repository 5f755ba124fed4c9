import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { check } from '../../../../worker/cli/check.ts';
import { status } from '../../../../worker/cli/status.ts';
import { listWebhooks, replayWebhooks, testWebhooks } from '../../../../worker/cli/webhooks.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { receiver } from '../../../support/receiver.ts';
import { idle, printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';
import { secretOf } from '../../../support/worker/told.ts';

const { beside, fresh, redis } = useCommands();

const webhook = (name: string, url: string, more = 'events: [request.created]') =>
  `{ name: ${name}, url: "${url}", secret: "${secretOf(7)}", allowPrivate: true, ${more} }`;

test('what a receiver refused for good is counted, and sent again in its order after a replay', async () => {
  let status410 = true;
  const its = await receiver(() => (status410 ? { status: 410 } : undefined));
  const loop = await startLoop(redis, { source: fresh(), general: `webhooks: [${webhook('warehouse', its.url)}]` });
  const options = beside(loop);
  for (const id of ['a', 'b']) await loop.post(loop.vendor.close(id).delivery);
  for (const id of ['a', 'b']) await loop.journey(`${id}.1`, 'asked');
  const state = async () => (await printed(() => listWebhooks(options))).rows[0];
  await until(async () => Object(await state()).givenUp === 2);
  expect(await state()).toEqual({
    ...{ webhook: 'warehouse', waiting: 0, givenUp: 2, gone: true },
    ...{ to: new URL(its.url).origin, events: ['request.created'], include: [] },
  });
  const asText = await printed(() => listWebhooks({ ...options, json: false }));
  expect(asText.out).toMatch(/warehouse +http:\/\/127\.0\.0\.1:\d+ +request\.created +0 +2 \(410 Gone\)/);
  const told = await printed(() => status({ ...options, json: false }));
  expect(stripVTControlCharacters(told.out)).toContain(
    'webhook warehouse\n  events      0 waiting · given up 2 (410 Gone) ("webhooks replay warehouse")',
  );
  expect((await printed(() => status(options))).rows).toContainEqual(
    expect.objectContaining({ webhook: 'warehouse', givenUp: 2 }),
  );

  status410 = false;
  its.got.length = 0;
  const later = new Date(Date.now() + 60_000).toISOString();
  const none = await printed(() => replayWebhooks({ ...options, name: 'warehouse', since: later }));
  expect(none.rows).toEqual([{ webhook: 'warehouse', events: 0, waiting: 0 }]);
  const all = await printed(() => replayWebhooks({ ...options, name: 'warehouse', json: false }));
  expect(all.out).toBe('2 events are sent again to warehouse, within a minute.\n');
  await until(() => its.got.length === 2);
  await until(async () => Object(await state()).waiting === 0);
  expect(await state()).toMatchObject({ givenUp: 0, gone: false });
  const clean = await printed(() => status({ ...options, json: false }));
  expect(clean.out).not.toContain('webhook warehouse');
  await idle(loop);
});

test('a replay tries at once what waits for its next try', async () => {
  let isDown = true;
  const its = await receiver(() => (isDown ? { status: 503, headers: { 'retry-after': '900' } } : undefined));
  const loop = await startLoop(redis, { source: fresh(), general: `webhooks: [${webhook('slow', its.url)}]` });
  await loop.asked('a');
  const { jobs } = loop.app.engine.sending.stages[0] ?? expect.fail('no stage');
  await until(async () => (await jobs.queue.getDelayedCount()) === 1);
  isDown = false;
  const told = await printed(() => replayWebhooks({ ...beside(loop), name: 'slow', json: false }));
  expect(told.out).toBe('0 events are sent again to slow, within a minute. 1 that waited: tried at once.\n');
  await until(() => its.got.length === 2);
});

test('a test event tells of each webhook whether it took it; a name that is not there is told of', async () => {
  const [good, bad] = [await receiver(), await receiver(() => ({ status: 500 }))];
  const webhooks = [webhook('good', good.url), webhook('bad', bad.url)];
  const loop = await startLoop(redis, { source: fresh(), general: `webhooks: [${webhooks.join(', ')}]` });
  const options = beside(loop);
  const one = await printed(() => testWebhooks({ ...options, name: 'good' }));
  expect([one.code, one.rows]).toEqual([0, [{ webhook: 'good', taken: true }]]);
  expect(good.got[0]?.body).toEqual({ type: 'webhook.test', version: 1, timestamp: expect.any(String), data: {} });
  const both = await printed(() => testWebhooks(options));
  expect(both.code).toBe(1);
  expect(both.rows).toContainEqual({ webhook: 'bad', taken: false, why: 'the receiver answered 500' });
  await expect(testWebhooks({ ...options, name: 'god' })).rejects.toThrow(
    'There is no webhook "god"; there are: good, bad.',
  );
});

test('without webhooks the commands say so', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const listed = await sayings(() => listWebhooks({ ...beside(loop), json: false }));
  expect(listed.said.join()).toContain('"webhooks" in the configuration names none');
  expect((await printed(() => testWebhooks(beside(loop)))).code).toBe(1);
});

test('check says whether the address of a webhook may be called and answers, and whether it is told of anything', async () => {
  const its = await receiver();
  const unreached = `{ name: inner, url: "https://127.0.0.1:${its.port}", secret: "${secretOf(1)}", events: [answer.received] }`;
  const webhooks = [webhook('idle', its.url, ''), unreached];
  const loop = await startLoop(redis, { source: fresh(), general: `webhooks: [${webhooks.join(', ')}]` });
  const { rows } = await printed(() => check(beside(loop)));
  const { findings } = Object(rows[0]);
  expect(findings.filter(({ at }: { at: string }) => at.startsWith('webhooks'))).toEqual([
    expect.objectContaining({
      level: 'warning',
      at: 'webhooks[0]',
      problem: expect.stringContaining('told of nothing'),
    }),
    expect.objectContaining({
      ...{ source: 'closeloop', level: 'error', at: 'webhooks[1].url' },
      problem: '127.0.0.1 is an address inside a network, or of this machine, which is not called',
      remedy: 'name a public address, or set webhooks[1].allowPrivate if it is meant',
    }),
  ]);
  expect(its.got).toEqual([]);
});
