import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { type Loop, startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const redis = useRedis();
// What one test leaves (campaigns that were asked in, people that were asked) would be met by the next.
beforeEach(async () => {
  await redis.handle.client.flushall();
});

const create = { method: 'POST', path: '/api/appeals/$' };
/** Long enough for a restart between the create and the look-up. */
const searchAfter = '1500ms';
const always = 1_000_000;
const ruleOf = (campaign: number, more = '') => `{ name: all, campaign: ${campaign}, contact: customer.email${more} }`;

async function traceOf({ store }: Pick<Loop, 'store'>, id: string): Promise<string> {
  return (await store.trace(id)).map(({ text }) => text).join('\n');
}

/** What the stand-in answers, for a test to change and to order as a fault. */
async function answerOf(feedback: Loop['feedback'], path: string): Promise<Record<string, unknown>> {
  const answer = await fetch(`${feedback.url}${path}`, { headers: { authorization: 'Token demo-key' } });
  return z.record(z.string(), z.unknown()).parse(await answer.json());
}

function contextOf({ app }: Loop, source: string) {
  return app.engine.pipelines.get(source)?.context ?? expect.fail('no pipeline');
}

describe('a create of unknown outcome', () => {
  test('it is looked for where it was sent, though the rule asks in another campaign since', async () => {
    const feedback = await startFeedbackStandin({ seed: true });
    const { standin } = feedback;
    for (const id of [40, 41]) standin.addCampaign({ account: 'acme', id, customFields: [{ name: 'closeloop' }] });
    const before = await startLoop(redis, { source: 'moved', feedback, searchAfter, rule: ruleOf(40) });
    standin.faults.add({ ...create, then: 'work-then-cut' });
    await before.post(before.vendor.close('m').delivery);
    await until(async () => (await traceOf(before, 'm.1')).includes('outcome unknown'));
    await before.close();

    const { vendor } = before;
    const after = await startLoop(redis, { source: 'moved', feedback, searchAfter, vendor, rule: ruleOf(41) });
    const asked = await after.journey('m.1', 'asked');
    const [request, ...more] = standin.requests({ contact: 'm@example.com' });
    expect([request?.campaign, String(request?.id), more]).toEqual([40, asked.requestId, []]);
    expect(await traceOf(after, 'm.1')).toMatch(/found by its field "closeloop"/);
    await after.close();
    await feedback.close();
  });

  test('it is looked for by what it was sent with, though the campaign has the marker field since', async () => {
    const feedback = await startFeedbackStandin({ seed: true });
    const { standin } = feedback;
    standin.addCampaign({ account: 'acme', id: 40, customFields: [] });
    const before = await startLoop(redis, { source: 'gained', feedback, searchAfter, rule: ruleOf(40) });
    standin.faults.add({ ...create, then: 'work-then-cut' });
    await before.post(before.vendor.close('g').delivery);
    await until(async () => (await traceOf(before, 'g.1')).includes('outcome unknown'));
    await before.close();

    const campaign = await answerOf(feedback, '/api/appeals/campaigns/40');
    const field = { id: 9, name: 'closeloop', field_type: 'Text', required: false, choices: [], show_in_report: true };
    const body = { ...campaign, custom_fields: [field] };
    standin.faults.add({ method: 'GET', path: '/api/appeals/campaigns/40', status: 200, body, times: always });
    const { vendor } = before;
    const after = await startLoop(redis, { source: 'gained', feedback, searchAfter, vendor, rule: ruleOf(40) });
    expect((await contextOf(after, 'gained').campaigns.get(40)).custom_fields).toMatchObject([{ name: 'closeloop' }]);
    await after.journey('g.1', 'asked');
    expect(standin.requests({ contact: 'g@example.com' })).toHaveLength(1);
    expect(await traceOf(after, 'g.1')).toMatch(/found by its contact and time/);
    await after.close();
    await feedback.close();
  });

  test('its own attempt, which came to nothing, does not count as asking lately', async () => {
    const loop = await startLoop(redis, { source: 'throttled', rule: ruleOf(12, ', throttle: 30d') });
    const { standin } = loop.feedback;
    standin.faults.add({ ...create, then: 'cut' });
    await loop.post(loop.vendor.close('t').delivery);
    const journey = await until(async () => {
      const now = await loop.store.get('t.1');
      return now?.state === 'asked' || now?.state === 'skipped' ? now : undefined;
    });
    expect(journey).toMatchObject({ state: 'asked', attempts: 2 });
    expect(standin.requests({ contact: 't@example.com' })).toHaveLength(1);
    await loop.close();
  });

  test('it is tried a bounded number of times, ever more rarely, and then the journey says why it failed', async () => {
    const loop = await startLoop(redis, { source: 'cutting', searchAfter: '5ms', general: 'retry: { for: 1ms }' });
    const { standin } = loop.feedback;
    standin.faults.add({ ...create, then: 'cut', times: always });
    await loop.post(loop.vendor.close('c').delivery);
    const failed = await loop.journey('c.1', 'failed');
    expect(failed).toMatchObject({ attempts: 8, why: expect.stringMatching(/never took the request in 8 attempts/) });
    expect(standin.requests()).toEqual([]);
    // How long each look-up was put off, by what the trace says.
    const lines = await loop.store.trace('c.1');
    const putOff = lines.flatMap(({ at, text }) => {
      const until = /will look for the request at (\S+Z)/.exec(text)?.[1];
      return until === undefined ? [] : [new Date(until).getTime() - at.getTime()];
    });
    expect(putOff).toHaveLength(8);
    expect(putOff[7]).toBeGreaterThan(20 * (putOff[0] ?? Number.NaN));
    await loop.close();
  });

  test("it does not take another source's request to the same person for its own", async () => {
    const loop = await startLoop(redis, { source: 'first', others: ['second'] });
    const { standin } = loop.feedback;
    const { delivery } = loop.vendor.close('x');
    await loop.post(delivery);
    const first = await loop.journey('x.1', 'asked');
    standin.faults.add({ ...create, then: 'cut' });
    await loop.post(delivery, {}, 'second');
    const { store } = loop.app.engine.pipelines.get('second')?.context ?? expect.fail('no source');
    const second = await until(async () => {
      const journey = await store.get('x.1');
      return journey?.state === 'asked' ? journey : undefined;
    });
    expect(await traceOf({ store }, 'x.1')).toMatch(/outcome unknown/);
    const requests = standin.requests({ contact: 'x@example.com' }).map(({ id }) => String(id));
    expect([first.requestId, second.requestId]).toEqual(requests);
    await loop.close();
  });
});

describe('a closing', () => {
  test('it ends the journey of the one before, though the worker was killed right after noting it', async () => {
    const vendor = new ToyVendor();
    const rule = ruleOf(12, ', delay: 1h, again: never');
    const loop = await startLoop(redis, { source: 'killed', vendor, rule });
    await loop.post(vendor.close('k').delivery);
    await loop.journey('k.1', 'waiting');
    const { at } = vendor.close('k');
    const event = { kind: 'closed', id: 'k', at, key: 'second' } as const;
    const claimed = { recordId: 'k', closing: at.toISOString(), closedAt: at, eventKey: 'second', receivedAt: at };
    await loop.store.getOrCreate(claimed, ['and here the worker was killed']);
    await loop.post(vendor.delivery([event]));
    expect((await loop.journey('k.1', 'cancelled')).why).toMatch(/closed again: journey killed\/k\.2/);
    await loop.journey('k.2', 'waiting');
    await loop.hoursPass(1);
    await loop.journey('k.2', 'asked');
    expect(loop.feedback.standin.requests({ contact: 'k@example.com' })).toHaveLength(1);
    await loop.close();
  });

  const event = {
    kind: 'closed',
    recordId: 'o',
    at: new Date(),
    what: 'toy closed',
    certain: true,
    via: 'webhook',
  } as const;
  test('it is read again when its record shows open, as the reading may lag behind the webhook', async () => {
    const loop = await startLoop(redis, { source: 'lagging' });
    loop.vendor.close('o', { state: { is: 'open' } });
    const job = { ...event, key: 'lagging', receivedAt: new Date() };
    const context = contextOf(loop, 'lagging');
    expect(await plan(job, context)).toMatchObject({ do: 'wait' });
    expect(await loop.store.get('o.1')).toBeUndefined();
    loop.vendor.close('o');
    expect(await plan(job, context)).toEqual({ do: 'done' });
    await loop.journey('o.1', 'asked');
    await loop.close();
  });

  test('it is skipped, and says so, when its record stays open', async () => {
    const loop = await startLoop(redis, { source: 'reopened' });
    loop.vendor.close('o', { state: { is: 'open' } });
    await loop.app.engine.ingestion.store('reopened', [{ ...event, key: 'open' }], new Date(Date.now() - 60_000));
    const skipped = await loop.journey('o.1', 'skipped');
    expect([skipped.reason, skipped.why]).toEqual(['reopened', expect.stringMatching(/open again when it was read/)]);
    expect(loop.feedback.standin.requests()).toEqual([]);
    await loop.close();
  });
});

describe('a waiting journey', () => {
  test('it is planned anew, and asked once, by the rule that stands where its own was', async () => {
    const rule = '{ name: old, campaign: 12, contact: customer.email, delay: 1h, fields: { Store: ticket.store } }';
    const before = await startLoop(redis, { source: 'renamed', rule });
    const { vendor, feedback } = before;
    await before.post(vendor.close('r').delivery);
    await before.journey('r.1', 'waiting');
    await before.app.close();

    const newer = '{ name: new, campaign: 12, contact: customer.email, fields: { Agent: ticket.store } }';
    const after = await startLoop(redis, { source: 'renamed', vendor, feedback, rule: newer });
    await after.hoursPass(1);
    expect(await after.journey('r.1', 'asked')).toMatchObject({ rule: 'new' });
    const requests = feedback.standin.requests({ contact: 'r@example.com' });
    expect(requests).toMatchObject([{ customFields: { Agent: 'Tallinn' } }]);
    expect(await traceOf(after, 'r.1')).toMatch(/decided again, as it is due/);
    await after.close();
    await feedback.close();
  });
});

describe('grades', () => {
  test('they are written one at a time for a journey, the newest last, however slow the vendor is', async () => {
    const vendor = new ToyVendor();
    const slow = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    vendor.beforeWriteBack = async () => {
      most = Math.max(most, ++running);
      if (vendor.calls.filter(({ what }) => what === 'writeBack').length === 1) await slow.promise;
      running--;
    };
    const loop = await startLoop(redis, { source: 'slow', vendor });
    const { standin } = loop.feedback;
    await loop.post(vendor.close('w').delivery);
    await loop.journey('w.1', 'asked');
    standin.answer({ contact: 'w@example.com', grade: 1 });
    await until(() => running === 1);
    standin.answer({ contact: 'w@example.com', grade: 5 });
    await until(async () => (await loop.store.get('w.1'))?.answer?.version === 2);
    // Time for a second call to leave, if one would.
    await sleep(300);
    slow.resolve();
    expect(await loop.journey('w.1', 'written')).toMatchObject({ writtenVersion: 2 });
    await until(async () => (await loop.app.engine.busy()) === 0);
    expect(most).toBe(1);
    expect(vendor.written.map(({ grade }) => grade)).toEqual([1, 5]);
    await loop.close();
  });

  test('they are written once: an export that shows them again, beside one that changed, changes nothing', async () => {
    const loop = await startLoop(redis, { source: 'beside' });
    const { standin } = loop.feedback;
    for (const id of ['a', 'b']) {
      await loop.post(loop.vendor.close(id).delivery);
      await loop.journey(`${id}.1`, 'asked');
      standin.answer({ contact: `${id}@example.com`, grade: 3 });
      await loop.journey(`${id}.1`, 'written');
    }
    standin.answer({ contact: 'a@example.com', grade: 5 });
    await until(async () => (await loop.store.get('a.1'))?.writtenVersion === 2);
    await until(async () => (await loop.app.engine.busy()) === 0);
    expect(loop.vendor.written.map(({ recordId, grade }) => [recordId, grade])).toEqual([
      ['a', 3],
      ['b', 3],
      ['a', 5],
    ]);
    await loop.close();
  });

  test('they are collected from a campaign that no rule asks in any more', async () => {
    const feedback = await startFeedbackStandin({ seed: true });
    feedback.standin.addCampaign({ account: 'acme', id: 40 });
    const before = await startLoop(redis, { source: 'left', feedback });
    const { vendor } = before;
    await before.post(vendor.close('l').delivery);
    await before.journey('l.1', 'asked');
    await before.close();

    const after = await startLoop(redis, { source: 'left', feedback, vendor, rule: ruleOf(40) });
    feedback.standin.answer({ contact: 'l@example.com', grade: 5 });
    await after.journey('l.1', 'written');
    expect(vendor.written).toMatchObject([{ recordId: 'l', grade: 5 }]);
    await after.close();
    await feedback.close();
  });

  test('they are collected beside a record of another shape, which is told', async () => {
    const loop = await startLoop(redis, { source: 'shapes' });
    const { standin } = loop.feedback;
    await loop.post(loop.vendor.close('s').delivery);
    const { requestId } = await loop.journey('s.1', 'asked');
    const page = await answerOf(loop.feedback, '/api/appeals/?campaign=12');
    const results = z.array(z.looseObject({ id: z.number() })).parse(page.results);
    expect(results.map(({ id }) => String(id))).toEqual([requestId]);
    const foreign = { id: 4_000_000, grade: 'of another shape' };
    const body = { ...page, count: 2, results: [foreign, ...results.map((ours) => ({ ...ours, grade: 4 }))] };
    standin.faults.add({ method: 'GET', path: '/api/appeals/$', status: 200, body, times: always });
    standin.answer({ contact: 's@example.com', grade: 4 });
    await loop.journey('s.1', 'written');
    expect(loop.vendor.written).toMatchObject([{ recordId: 's', grade: 4 }]);
    const told = loop.told.filter(({ message }) => message === 'requests could not be read');
    expect(told[0]).toMatchObject({ level: 'warn', fields: { campaign: 12, requests: 1 } });
    await loop.close();
  });

  test('they come when the service is back: an outage is told once, and leaves no jobs behind', async () => {
    const loop = await startLoop(redis, { source: 'outage' });
    const { standin } = loop.feedback;
    const queue = new Queue('collect', { prefix: '{cl}', connection: { path: redis.socket } });
    await loop.post(loop.vendor.close('a').delivery);
    await loop.journey('a.1', 'asked');
    standin.answer({ contact: 'a@example.com', grade: 3 });
    standin.faults.add({ path: '^/api/', status: 500, body: {}, times: always });
    let most = 0;
    await until(async () => {
      most = Math.max(most, await queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized'));
      // Three, and the first of those that find out when it is back.
      return always - (standin.faults.list()[0]?.times ?? 0) >= 4;
    });
    // Those that run (on a slow machine the next begins meanwhile, and finds the campaign taken), and the next.
    expect(most).toBeLessThanOrEqual(5);
    expect(loop.told.filter(({ message }) => message === 'grades could not be collected')).toHaveLength(1);
    standin.faults.clear();
    await loop.journey('a.1', 'written');
    await queue.close();
    await loop.close();
  });
});
