import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { type Loop, startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
let sources = 0;
/** A source of its own for each test: they share nothing but Redis and the process. */
const fresh = () => `toy-${++sources}`;

/** Somebody else's request to a person, made past closeloop. */
async function request(loop: Loop, email: string): Promise<void> {
  const answer = await fetch(`${loop.feedback.url}/api/appeals/`, {
    method: 'POST',
    headers: { authorization: 'Token demo-key', 'content-type': 'application/json' },
    body: JSON.stringify({ campaign: 12, email, scheduled: new Date().toISOString() }),
  });
  expect(answer.status).toBe(201);
}

/** What was told about stages of the source that had to stop. */
function pausedOf({ told, store }: Loop) {
  return told.filter(({ message, fields }) => message.startsWith('paused') && fields.source === store.source);
}

describe('the loop', () => {
  test('it asks once, collects the grade, writes it back, and again when it changes', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const { delivery } = loop.vendor.close('t1');
    const answer = await loop.post(delivery);
    expect([answer.status, await answer.json()]).toEqual([202, { accepted: 1, ignored: 0 }]);
    const asked = await loop.journey('t1.1', 'asked');
    const [request] = loop.feedback.standin.requests({ contact: 't1@example.com' });
    expect(request).toMatchObject({ campaign: 12, customFields: { Store: 'Tallinn' } });
    expect(asked.requestId).toBe(String(request?.id));

    loop.feedback.standin.answer({ contact: 't1@example.com', grade: 4, comment: 'Thanks' });
    await loop.journey('t1.1', 'written');
    expect(loop.vendor.written).toMatchObject([{ recordId: 't1', grade: 4, comment: 'Thanks' }]);
    loop.feedback.standin.answer({ contact: 't1@example.com', grade: 2 });
    await until(() => loop.vendor.written[1]);
    expect(loop.vendor.written[1]).toMatchObject({ recordId: 't1', grade: 2, comment: 'Thanks' });
    const trace = (await loop.store.trace('t1.1')).map(({ text }) => text).join('\n');
    expect(trace).toMatch(
      /rule "all", campaign 12[\s\S]*asked: feedback request[\s\S]*answered: grade 4[\s\S]*written/,
    );
    await loop.close();
  });

  test('it makes one journey of the same webhook twice, and of two webhooks for one closing', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const { delivery, at } = loop.vendor.close('t2');
    await Promise.all([loop.post(delivery), loop.post(delivery)]);
    await loop.post(loop.vendor.delivery([{ kind: 'closed', id: 't2', at, key: 'another webhook' }]));
    await loop.journey('t2.1', 'asked');
    await until(async () => (await loop.app.engine.busy()) === 0);
    expect(await loop.store.get('t2.2')).toBeUndefined();
    expect(loop.feedback.standin.requests({ contact: 't2@example.com' })).toHaveLength(1);
    await loop.close();
  });

  test('it cancels a journey whose record is reopened before it is asked', async () => {
    const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
    const loop = await startLoop(redis, { source: fresh(), rule });
    const { delivery, at } = loop.vendor.close('t3');
    await loop.post(delivery);
    await loop.journey('t3.1', 'waiting');
    loop.vendor.close('t3', { state: { is: 'open' } });
    await loop.post(loop.vendor.delivery([{ kind: 'changed', id: 't3', at: new Date(at.getTime() + 1) }]));
    expect(await loop.journey('t3.1', 'cancelled')).toMatchObject({ why: expect.stringContaining('open again') });
    expect(loop.feedback.standin.requests({ contact: 't3@example.com' })).toEqual([]);
    await loop.close();
  });

  test('it does not ask about a record that was reopened without a webhook', async () => {
    const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
    const loop = await startLoop(redis, { source: fresh(), rule });
    await loop.post(loop.vendor.close('t4').delivery);
    await loop.journey('t4.1', 'waiting');
    loop.vendor.close('t4', { state: { is: 'open' } });
    await loop.hoursPass(1);
    await loop.journey('t4.1', 'cancelled');
    await loop.close();
  });
});

describe('a create of unknown outcome', () => {
  const create = { method: 'POST', path: '/api/appeals/$' };
  const markerRule = '{ name: all, campaign: 40, contact: customer.email }';

  test.each([
    ['done, and the answer lost', 'work-then-cut', 1],
    ['not done, and the connection cut', 'cut', 1],
  ] as const)('it is looked for, and the customer asked once: %s', async (_, then, requests) => {
    for (const rule of [undefined, markerRule]) {
      const feedback = await startFeedbackStandin({ seed: true });
      const { standin } = feedback;
      // Before the start: rules are checked against the live campaigns then.
      standin.addCampaign({ account: 'acme', id: 40, customFields: [{ name: 'closeloop' }] });
      const loop = await startLoop(redis, { source: fresh(), feedback, ...(rule === undefined ? {} : { rule }) });
      standin.faults.add({ ...create, then });
      await loop.post(loop.vendor.close('u').delivery);
      await loop.journey('u.1', 'asked');
      expect(standin.requests({ contact: 'u@example.com' })).toHaveLength(requests);
      const trace = (await loop.store.trace('u.1')).map(({ text }) => text).join('\n');
      expect(trace).toMatch(/outcome unknown/);
      await loop.close();
      await feedback.close();
    }
  });

  test('it is parked, not guessed, when the service cannot tell', async () => {
    const loop = await startLoop(redis, { source: fresh(), searchAfter: '1h' });
    const { standin } = loop.feedback;
    standin.faults.add({ ...create, then: 'work-then-cut' });
    // Somebody else's request to the same person at the same moment: which one is ours?
    await loop.post(loop.vendor.close('p').delivery);
    await until(() => standin.requests({ contact: 'p@example.com' }).length === 1);
    await request(loop, 'p@example.com');
    await loop.hoursPass(1);
    expect((await loop.journey('p.1', 'parked')).why).toMatch(/2 requests to this contact/);
    await loop.close();
  });
});

describe('errors', () => {
  test('it retries what passes, and loses nothing', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    loop.vendor.failures.read.push(new CloseloopError('toy: 503', { kind: 'transient' }));
    loop.feedback.standin.faults.add({
      method: 'GET',
      path: '/api/appeals/campaigns/12',
      status: 500,
      times: 3,
      body: {},
    });
    await loop.post(loop.vendor.close('e').delivery);
    await loop.journey('e.1', 'asked');
    await loop.close();
  });

  test('it pauses the source on an inactive key, says so once, sends nothing, and goes on when a person acted', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const { standin } = loop.feedback;
    standin.changeKey({ key: 'demo-key', active: false });
    for (const id of ['k1', 'k2', 'k3']) await loop.post(loop.vendor.close(id).delivery);
    const paused = await until(() => pausedOf(loop)[0]);
    expect(paused.fields).toMatchObject({ why: expect.stringMatching(/[Ii]nactive/) });
    const ready = await (await fetch(`${loop.app.url}/readyz`)).json();
    expect(ready).toMatchObject({ ok: false });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(pausedOf(loop)).toHaveLength(1);
    expect(standin.requests()).toEqual([]);

    const { jobs, pauses } = [...loop.app.engine.pipelines.values()][0] ?? expect.fail('no pipeline');
    // One that was refused the key just now would stop the source again.
    await until(async () => (await jobs.plan.queue.getActiveCount()) + (await jobs.ask.queue.getActiveCount()) === 0);
    standin.changeKey({ key: 'demo-key', active: true });
    await pauses.clear(Object.values(jobs).map(({ queue }) => queue));
    for (const id of ['k1', 'k2', 'k3']) await loop.journey(`${id}.1`, 'asked');
    await loop.close();
  });

  test('it fails a journey whose request the service refuses, with the field in the reason', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    loop.feedback.standin.faults.add({
      method: 'POST',
      path: '/api/appeals/$',
      times: 9,
      status: 400,
      body: { Store: ['This store is closed.'] },
    });
    await loop.post(loop.vendor.close('f').delivery);
    expect((await loop.journey('f.1', 'failed')).why).toMatch(/Store/);
    await loop.close();
  });
});

describe('intake', () => {
  const rows: [name: string, body: string | undefined, headers: Record<string, string>, status: number][] = [
    ['a bad signature', '[]', { 'x-toy-secret': 'wrong' }, 401],
    ['broken JSON', '[{', {}, 400],
    ['another content type', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['over 1 MiB', `[${' '.repeat(1024 * 1024)}]`, {}, 413],
    ['an empty list', '[]', {}, 202],
  ];
  test('it answers every wrong delivery with its status', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    for (const [name, body, headers, status] of rows) {
      expect([name, (await loop.post(body ?? '', headers)).status]).toEqual([name, status]);
    }
    const unknown = await fetch(`${loop.app.url}/hooks/nobody`, {
      method: 'POST',
      body: '[]',
      headers: { 'content-type': 'application/json' },
    });
    expect(unknown.status).toBe(404);
    expect(await (await fetch(`${loop.app.url}/healthz`)).json()).toEqual({ ok: true });
    await loop.close();
  });

  test('it acknowledges no event that nobody could work on, and stores none of its delivery', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const at = new Date();
    const plain = [
      { kind: 'external-grade', recordId: 'a', grade: 4, comment: null, at, key: 'one' },
      { kind: 'external-grade', recordId: 7, grade: 4, comment: null, at, key: 'two' },
    ];
    expect((await loop.post(JSON.stringify({ plain }))).status).toBe(503);
    const told = loop.told.find(({ message }) => message.startsWith('delivery not stored'));
    expect(told?.fields.why).toMatch(/made an event that is none.*recordId/s);
    expect(await loop.app.engine.pipelines.get(loop.store.source)?.jobs.plan.queue.getJobCounts()).toMatchObject({
      active: 0,
      delayed: 0,
      waiting: 0,
    });
    await loop.close();
  });
});
