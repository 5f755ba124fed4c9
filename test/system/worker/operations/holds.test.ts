import { Queue } from 'bullmq';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { Holds } from '../../../../worker/operations/holds.ts';
import { type Loop, memoryLog, startLoop, until } from '../../../support/loop.ts';
import { startWorld } from '../../../support/loop-processes.ts';
import { overriding } from '../../../support/manual.ts';
import { useRedis } from '../../../support/redis.ts';
import { startService } from '../../../support/service.ts';

const redis = useRedis();
beforeEach(async () => {
  await redis.handle.client.flushall();
});

const always = 1_000_000;
/** Two rules, two campaigns: by what is in the record. */
const twoRules = `{ name: north, when: ticket.store = "North", campaign: 40, contact: customer.email }
      - { name: others, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }`;

async function withTwo(source: string) {
  const feedback = await startService();
  feedback.standin.addCampaign({ account: 'acme', id: 40, name: 'North' });
  return { feedback, standin: feedback.standin, start: () => startLoop(redis, { source, rule: twoRules, feedback }) };
}

/** What /readyz says to anybody, and what the process knows. */
async function readyOf({ app }: Pick<Loop, 'app'>) {
  const { ok } = z.object({ ok: z.boolean() }).parse(await (await fetch(`${app.url}/readyz`)).json());
  return { ok, paused: await app.engine.paused() };
}
const held = async ({ app }: Loop, source: string) => (await app.engine.pipelines.get(source)?.holds.list()) ?? [];

/** Closings of the first rule, `n` of them, and ten of the other. */
async function close(loop: Loop, n: number) {
  const north = Array.from({ length: n }, (_, i) => `n${i}`);
  const others = Array.from({ length: 10 }, (_, i) => `o${i}`);
  await loop.closeAll(north, { store: 'North' });
  await loop.closeAll(others);
  return { north: north.map((id) => `${id}.1`), others: others.map((id) => `${id}.1`) };
}

const everyone = (standin: { requests(): unknown[] }) => standin.requests().length;

test.each([
  ['inactive', 'inactive', 'ask', 'requests.create'],
  ['a draft', 'draft', 'plan', 'campaigns.get'],
] as const)(
  'a campaign that is %s holds up only what asks in it, however much that is; mended, all of it goes on (audit 15)',
  async (_, state, stage, call) => {
    const source = `plan-${state}`;
    const { standin, start } = await withTwo(source);
    standin.changeCampaign({ id: 40, state });
    const loop = await start();
    const { north, others } = await close(loop, 40);
    for (const id of others) await loop.journey(id, 'asked');
    await until(async () => (await held(loop, source))[0]?.jobs === north.length);
    expect(await held(loop, source)).toMatchObject([
      { stage, only: 'campaign 40', why: expect.stringMatching(/campaign 40.*activate/i) },
    ]);
    expect(await readyOf(loop)).toMatchObject({
      ok: false,
      paused: { [source]: [{ stage: `${stage}, campaign 40` }] },
    });
    // Those who wait cost the service nothing: one at a time finds out.
    standin.clearCalls();
    await until(() => (standin.calls()[call] ?? 0) >= 2);
    expect(await held(loop, source)).toMatchObject([{ jobs: north.length }]);
    expect(loop.told.filter(({ level, message }) => level === 'error' && message.startsWith('held up'))).toHaveLength(
      1,
    );

    standin.changeCampaign({ id: 40, state: 'active' });
    for (const id of north) await loop.journey(id, 'asked');
    expect([everyone(standin), await held(loop, source)]).toEqual([50, []]);
    // It is looked at once in a while.
    await until(async () => (await readyOf(loop)).ok);
  },
);

test('what jobs of the configuration before a reload stop and hold up until they have ended goes on', async () => {
  const loop = await startLoop(redis, { source: 'reloaded', sweepEveryMs: 3_600_000 });
  const before = loop.app.engine;
  const { holds, pauses } = before.pipelines.get('reloaded') ?? expect.fail('no pipeline');
  const close = before.close.bind(before);
  vi.spyOn(before, 'close').mockImplementationOnce(async (graceMs) => {
    await holds.set('plan', 'campaign 999', 'there is none');
    await pauses.set('ask', 'the key is inactive');
    await close(graceMs);
  });
  await loop.app.reload();
  expect([await holds.list(), await pauses.list()]).toEqual([[], []]);
});

test.each([
  ['switched off', 'inactive'],
  ['set back to a draft', 'draft'],
] as const)('a campaign that is %s while its journeys wait fails none of them (audit 17)', async (_, state) => {
  const source = `ask-${state}`;
  const feedback = await startService();
  const { standin } = feedback;
  standin.addCampaign({ account: 'acme', id: 40, name: 'North' });
  const rule = `{ name: north, when: ticket.store = "North", campaign: 40, contact: customer.email, delay: 1h }
      - { name: others, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }`;
  const loop = await startLoop(redis, { source, rule, feedback });
  const { north, others } = await close(loop, 20);
  for (const id of north) await loop.journey(id, 'waiting');
  standin.changeCampaign({ id: 40, state });
  await loop.hoursPass(1);
  await until(async () => (await held(loop, source))[0]?.jobs === north.length);
  expect(await held(loop, source)).toMatchObject([{ stage: 'ask', only: 'campaign 40' }]);
  for (const id of others) await loop.journey(id, 'asked');
  for (const id of north) expect((await loop.store.get(id))?.state).toMatch(/^(?:waiting|creating)$/);
  standin.changeCampaign({ id: 40, state: 'active' });
  for (const id of north) await loop.journey(id, 'asked');
  expect([everyone(standin), await held(loop, source)]).toEqual([30, []]);
});

test.each([
  ['a method that the service does not take', { method: 'PUT' }, /not for this method.*feedback\.operations\.create/],
  ['a path that it does not have', { path: '/appeals/new/' }, /no such path.*feedback\.operations\.create/],
  ['an unknown name', { body: { email: 'contact_email' } }, /not know contact_email.*feedback\.operations\.create/],
])('create by %s fails nothing: it waits, with the remedy, and goes on with the right form', async (_, create, why) => {
  const feedback = await startService();
  const { standin } = feedback;
  const wrong = await startLoop(redis, { source: 'form', feedback, operations: { create } });
  const { vendor } = wrong;
  const ids = Array.from({ length: 20 }, (_, i) => `f${i}`);
  await wrong.closeAll(ids);
  await until(async () => (await held(wrong, 'form'))[0]?.jobs === ids.length);
  expect(await held(wrong, 'form')).toMatchObject([{ stage: 'ask', why: expect.stringMatching(why) }]);
  await wrong.close();
  const right = await startLoop(redis, { source: 'form', feedback, vendor });
  for (const id of ids) await right.journey(`${id}.1`, 'asked');
  expect(everyone(standin)).toBe(ids.length);
  await right.close();
});

test('a rule whose fields do not fit its campaign holds up what it is chosen for, from the start, and nothing else (audit 15)', async () => {
  const { feedback, standin } = await withTwo('misfit');
  const rule = twoRules.replace(
    'contact: customer.email }',
    'contact: customer.email, fields: { Nonsense: ticket.store } }',
  );
  const loop = await startLoop(redis, { source: 'misfit', rule, feedback });
  expect(await held(loop, 'misfit')).toMatchObject([
    { only: 'rule "north" in campaign 40', why: expect.stringContaining('Nonsense'), jobs: 0 },
  ]);
  const { north, others } = await close(loop, 5);
  for (const id of others) await loop.journey(id, 'asked');
  await until(async () => (await held(loop, 'misfit'))[0]?.jobs === north.length);
  expect(everyone(standin)).toBe(others.length);
});

test('a refused key is about the account, and stops the stage (audit 15)', async () => {
  const { standin, start } = await withTwo('key');
  const loop = await start();
  standin.faults.add({ path: '/api/', status: 401, body: { detail: 'Invalid token.' }, times: always });
  await close(loop, 3);
  const paused = await until(async () => (await readyOf(loop)).paused.key);
  expect(paused).toMatchObject([
    { stage: expect.stringMatching(/^(?:plan|ask)$/), why: expect.stringContaining('apiKey') },
  ]);
  expect(await held(loop, 'key')).toEqual([]);
});

test.each([
  ['a redirect', { path: '/api/contacts/', status: 301 }],
  ['a 404 with other JSON', { path: '/api/contacts/', status: 404, body: { message: 'no Route matched' } }],
  ['a page with 404', { path: '/api/contacts/', status: 404, headers: { 'content-type': 'text/html' }, body: '<p>' }],
  ['JSON of another shape', { path: '/api/contacts/', status: 200, body: { ok: true } }],
  [
    'a page with 403',
    { method: 'POST', path: '/api/appeals/$', status: 403, headers: { 'content-type': 'text/html' }, body: '<p>' },
  ],
])('%s, once, is tried again: it neither stops nor fails anything (audit 17)', async (_, fault) => {
  const feedback = await startService();
  const { standin } = feedback;
  const loop = await startLoop(redis, { source: 'hiccup', feedback });
  standin.faults.add({ ...fault, times: 2 });
  await loop.asked('h');
  expect(standin.faults.list()).toEqual([]);
  expect(loop.told.filter(({ level }) => level === 'error')).toEqual([]);
});

test('an odd answer that does not pass is believed after a few tries: it stops, with the remedy, and fails nothing (audit 17)', async () => {
  const feedback = await startService();
  const loop = await startLoop(redis, { source: 'moved', feedback });
  feedback.standin.faults.add({ path: '/api/contacts/', status: 301, times: always });
  await loop.post(loop.vendor.close('m').delivery);
  const paused = await until(async () => (await readyOf(loop)).paused.moved);
  expect(paused).toMatchObject([{ stage: 'ask', why: expect.stringContaining('feedback.baseUrl') }]);
  expect((await loop.store.get('m.1'))?.state).toBe('waiting');
});

test('a hold is told once for however many jobs and probes, again when its reason is another (audit 15)', async () => {
  const { log, told } = memoryLog();
  const news: string[] = [];
  const holds = new Holds({
    redis: redis.handle.client,
    tag: '{cl:told}',
    source: 'told',
    log,
    onNews: async ({ why }) => void news.push(why),
    queues: () => [],
  });
  for (let n = 0; n < 50; n++) await holds.set('ask', 'campaign 12', 'it is inactive', `job-${n}`);
  expect([news, told.length, (await holds.list())[0]?.jobs]).toEqual([['it is inactive'], 1, 50]);
  await expect(holds.pass('ask', ['rule "x"', 'campaign 12'])).rejects.toMatchObject({
    message: 'it is inactive',
    advice: { kind: 'config', only: 'campaign 12' },
  });
  await holds.pass('ask', ['rule "x"', 'campaign 13']);
  await holds.pass('plan', ['campaign 12']);

  // One ticket a probe, for whoever comes first.
  await holds.probe();
  await holds.probe();
  await holds.pass('ask', ['campaign 12']);
  await expect(holds.pass('ask', ['campaign 12'])).rejects.toThrow('it is inactive');
  await holds.set('ask', 'campaign 12', "it is another account's");
  expect(news).toHaveLength(2);
  await holds.lift('ask', ['campaign 12', 'rule "x"']);
  expect(await holds.list()).toEqual([]);
  await holds.pass('ask', ['campaign 12']);
});

test('a thousand held jobs all go on, though the process that lets them go is killed in the middle (audit twice)', async () => {
  const queue = new Queue('ask', { prefix: '{cl:many}', connection: redis.handle.bull() });
  onTestFinished(() => queue.close());
  const ids = Array.from({ length: 1_000 }, (_, n) => `ask-${n}`);
  await queue.addBulk(ids.map((jobId) => ({ name: 'ask', data: {}, opts: { jobId, delay: 600_000 } })));
  const holdsOf = (queues: Queue[]) =>
    new Holds({
      redis: redis.handle.client,
      tag: '{cl:many}',
      source: 'many',
      log: memoryLog().log,
      onNews: async () => undefined,
      queues: () => queues,
    });
  const other = holdsOf([queue]);
  for (const id of ids) await other.set('ask', 'campaign 12', 'it is inactive', id);
  let left = 350;
  const getJob = async (id: string) => (left-- > 0 ? await queue.getJob(id) : Promise.reject(new Error('killed')));
  await expect(holdsOf([overriding(queue, { getJob })]).lift('ask', ['campaign 12'])).rejects.toThrow('killed');
  expect([await queue.getDelayedCount(), await other.list()]).toEqual([expect.any(Number), []]);
  expect(await queue.getDelayedCount()).toBeGreaterThan(0);
  await other.probe();
  expect([await queue.getDelayedCount(), await queue.getWaitingCount()]).toEqual([0, 1_000]);
  expect(await redis.handle.client.keys('{cl:many}:hold*')).toEqual([]);
  expect(await redis.handle.client.keys('{cl:many}:held*')).toEqual([]);
});

test('closings that a campaign holds up are asked once each, though workers are killed (audit twice)', async () => {
  const ids = Array.from({ length: 100 }, (_, n) => `h${n}`);
  const world = await startWorld(redis, 'held', ids);
  const { standin, store } = world;
  standin.changeCampaign({ id: 12, state: 'inactive' });
  const { client } = redis.handle;
  const heldJobs = () => client.scard('{cl:held}:held:ask campaign 12');
  const intake = await world.start('intake');
  let worker = await world.start('worker');
  await world.post(intake.url, ids);
  await until(async () => (await heldJobs()) >= 30);
  await worker.kill();
  await world.locksEnd();
  worker = await world.start('worker');
  await until(async () => (await heldJobs()) === ids.length);
  await worker.kill();
  await world.locksEnd();
  standin.changeCampaign({ id: 12, state: 'active' });
  // The start of a worker lets them go on.
  worker = await world.start('worker');
  await until(() => everyone(standin) >= 10);
  await worker.kill();
  await world.locksEnd();
  await world.start('worker');
  await until(async () => (await store.lists.counts()).asked === ids.length);
  expect(everyone(standin)).toBe(ids.length);
});
