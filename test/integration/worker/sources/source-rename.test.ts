import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { ask } from '../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import type { RedisClient } from '../../../../worker/redis/client.ts';
import { gateOf, knownSourcesKey } from '../../../../worker/redis/keys.ts';
import { anyone, asking, eventOf, hour, overriding, type UnitContext, useManual } from '../../../support/manual.ts';

const service = useManual();
const { redis, unitContext } = service;
const nothing = () => undefined;

/** A source with a bit of everything: journeys in several states, jobs, a poll, what events told, a person, proof of an erasure. */
async function lived(source = 'old', email = anyone.customer.email): Promise<UnitContext> {
  const old = unitContext({ source });
  const { context, vendor, store } = old;
  await old.engine.noteSources();
  vendor.close('asked', { customer: { email } });
  await plan(eventOf('asked'), context);
  await ask({ journeyId: 'asked.1' }, context);
  vendor.close('waits', { customer: { email: 'waits@example.com' }, personId: 'p7' });
  await plan(eventOf('waits', { snapshot: { customer: 'waits@example.com' } }), context);
  await store.update('waits.1', (now) => ({
    journey: step(now, 'waiting', new Date(), { dueAt: new Date(Date.now() + hour) }),
    trace: ['later'],
  }));
  await context.queueAsk({ id: 'waits.1' }, new Date(Date.now() + hour));
  await context.queueEvent(eventOf('unplanned'));
  await context.queueWriteBack(['asked.1']);
  await store.records.merge('gone', 'asked');
  await redis.handle.client.hset(`{cl:${source}}:poll`, { since: 1, cursor: 'page 7', doneAt: 2 });
  await context.erasures.forgotten.note(['person:p1'], new Date(), 400 * 24 * hour);
  return old;
}

/** Everything that can be seen of a source, whatever it is called. */
async function seen(
  { store, pipeline }: Pick<UnitContext, 'store' | 'pipeline'>,
  source: string,
  email = anyone.customer.email,
) {
  const journeys = [];
  for await (const journey of store.queries.all()) journeys.push({ ...journey, trace: await store.trace(journey.id) });
  const jobs = [];
  for (const { queue } of Object.values(pipeline.jobs)) {
    for (const job of await queue.getJobs()) jobs.push([queue.name, job.id ?? '', job.data, job.delay > 0]);
  }
  const asked = journeys.find(({ id }) => id === 'asked.1');
  return {
    journeys: journeys.sort((a, b) => (a.id < b.id ? -1 : 1)),
    jobs: jobs.map(([name, , data, isLater]) => JSON.stringify([name, data, isLater])).sort(),
    counts: await store.queries.counts(),
    request: await store.requests.journeyIdsOf([asked?.requestId ?? '']),
    person: (await store.queries.of({ personId: 'p7' })).map(({ id }) => id),
    contact: (await store.queries.of({ contact: { kind: 'email', value: email } })).map(({ id }) => id),
    memory: await store.records.historyOf('asked'),
    remaining: await store.records.remainingOf('gone', 'asked'),
    snapshots: await pipeline.context.snapshots.of(['waits']),
    poll: await redis.handle.client.hgetall(`{cl:${source}}:poll`),
    forgotten: (await pipeline.context.erasures.forgotten.since(new Date(0), ['person:p1'])).length === 1,
  };
}

/** Keys of the old name that hold more than the names of its queues and that it is closed. */
async function left(source: string): Promise<string[]> {
  const keys = await redis.handle.client.keys(`{cl:${source}}:*`);
  return keys.filter((key) => !/:(?:gate|pass:\d+|(?:plan|ask|write-back|erase):(?:meta|events|id|marker))$/.test(key));
}

describe('source rename (audit 14)', () => {
  test('it moves all that is stored of a source, and nothing is left under the old name', async () => {
    const before = await seen(await lived(), 'old');
    expect(before).toMatchObject({ counts: { asked: 1, waiting: 1 }, contact: ['asked.1'], person: ['waits.1'] });
    const now = unitContext({ source: 'new' });
    expect(await now.engine.rename('old', now.pipeline, nothing)).toMatchObject({
      journeys: 2,
      jobs: before.jobs.length,
    });
    expect(await seen(now, 'new')).toEqual(before);
    expect(await left('old')).toEqual([]);
    expect(await redis.handle.client.exists(gateOf('new'))).toBe(0);
    expect(await redis.handle.client.hget(knownSourcesKey, 'old')).toBeNull();
    expect(await now.engine.rename('old', now.pipeline, nothing)).toBe('already');
  });

  test('what a hold and an outage stop is stopped under the new name, and goes on from there (audit twice)', async () => {
    const old = await lived();
    await old.context.queueAsk({ id: 'held.1' }, new Date(Date.now() + hour));
    await old.pipeline.holds.set('ask', 'campaign 12', 'campaign 12 is inactive', 'ask-held.1');
    for (let n = 0; n < 3; n++) await old.pipeline.vendor.failed('no connection');
    const [held] = await old.pipeline.holds.list();
    const now = unitContext({ source: 'new' });
    await now.engine.rename('old', now.pipeline, nothing);
    expect(await left('old')).toEqual([]);
    expect(await now.pipeline.holds.list()).toEqual([held]);
    expect(held).toMatchObject({ jobs: 1 });
    expect(await now.pipeline.vendor.down({ now: true })).toMatchObject({ why: 'no connection' });
    const isDelayed = async () => await (await now.pipeline.jobs.ask.queue.getJob('ask-held.1'))?.isDelayed();
    expect(await isDelayed()).toBe(true);
    await now.pipeline.holds.lift('ask', ['campaign 12']);
    expect(await isDelayed()).toBe(false);
  });

  test('a grade that comes afterwards, and the ask that waits, find their journeys', async () => {
    await lived();
    const now = unitContext({ source: 'new' });
    await now.engine.rename('old', now.pipeline, nothing);
    service.standin.answer({ contact: anyone.customer.email, grade: 5 });
    await now.engine.runJob({ source: 'collect', stage: 'collect', data: { campaign: 12 } });
    expect(await now.store.get('asked.1')).toMatchObject({ state: 'answered', answer: { grade: 5 } });
  });

  test('a request that was sent with the old name in its marker is found by it', async () => {
    service.standin.addCampaign({ account: 'acme', id: 40, customFields: [{ name: 'closeloop' }] });
    const rule = '{ name: all, campaign: 40, contact: customer.email }';
    const old = unitContext({ source: 'old', rule });
    await old.engine.noteSources();
    old.vendor.close('u', anyone);
    await plan(eventOf('u'), old.context);
    service.standin.faults.add({ method: 'POST', path: '/api/appeals/$', then: 'work-then-cut' });
    await ask({ journeyId: 'u.1' }, old.context).catch(nothing);
    expect((await old.store.get('u.1'))?.state).toBe('creating');
    const now = unitContext({ source: 'new', rule, vendor: old.vendor });
    await now.engine.rename('old', now.pipeline, nothing);
    const muchLater = { ...now.context.clock, now: () => new Date(Date.now() + hour), until: () => 0 };
    await ask({ journeyId: 'u.1' }, { ...now.context, clock: muchLater });
    expect(await now.store.get('u.1')).toMatchObject({ state: 'asked', requestId: expect.any(String) });
    expect(await now.trace('u.1')).toMatch(/found by its field/);
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('interrupted after any command, the same call goes on and comes to the same end', async () => {
    const before = await seen(await lived('old-0'), 'old-0');
    const states = (one: typeof before) => one.journeys.map(({ id, state }) => [id, state]);
    // Each has lived at another time.
    const memory = ({ askedClosedAt, ...known }: typeof before.memory) => ({
      ...known,
      hasClosed: askedClosedAt !== undefined,
    });
    const shapeOf = (one: typeof before) => ({
      ...one,
      journeys: states(one),
      jobs: one.jobs.length,
      memory: memory(one.memory),
    });
    let isWhole = false;
    for (let n = 1; !isWhole; n += 3) {
      await redis.handle.client.flushall();
      const email = `n${n}@example.com`;
      await lived('old-0', email);
      const now = unitContext({ source: 'new', client: failingAfter(redis.handle.client, n) });
      isWhole = await now.engine.rename('old-0', now.pipeline, nothing).then(
        () => true,
        () => false,
      );
      const again = unitContext({ source: 'new' });
      await again.engine.rename('old-0', again.pipeline, nothing);
      const after = await seen(again, 'new', email);
      expect({ n, ...shapeOf(after) }).toEqual({ n, ...shapeOf(before) });
      expect([n, await left('old-0')]).toEqual([n, []]);
      expect(await redis.handle.client.exists(gateOf('new'))).toBe(0);
    }
  });

  test('it refuses a name that has journeys of its own, and leaves both as they were', async () => {
    const old = await lived();
    const before = await seen(old, 'old');
    const now = unitContext({ source: 'new' });
    await asking(now, 'own');
    await expect(now.engine.rename('old', now.pipeline, nothing)).rejects.toThrow(/journeys of its own/);
    expect(await seen(old, 'old')).toEqual(before);
    expect(await redis.handle.client.exists(gateOf('old'), gateOf('new'))).toBe(0);
    await asking(old, 'goes-on');
    expect((await old.store.get('goes-on.1'))?.state).toBeDefined();
  });

  test('it refuses a name that Redis does not know, and tells those it knows', async () => {
    await lived();
    const now = unitContext({ source: 'new' });
    await expect(now.engine.rename('odl', now.pipeline, nothing)).rejects.toThrow(/no source "odl"; there are: old/);
  });
});

describe('a process that still has the old name (audit 14)', () => {
  test('begins nothing under it, and what comes in there is moved by one with the new name', async () => {
    const old = await lived();
    const now = unitContext({ source: 'new', vendor: old.vendor });
    await now.engine.rename('old', now.pipeline, nothing);
    old.vendor.close('late', { customer: { email: 'late@example.com' } });
    const event = eventOf('late');
    expect(await old.engine.runJob({ source: 'old', stage: 'plan', data: event })).toMatchObject({ do: 'wait' });
    // Its job had begun before the rename did.
    await expect(plan(event, old.context)).rejects.toThrow(/another name now/);
    await old.context.queueEvent(event);
    await old.engine.noteSources();
    expect(old.told.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { source: 'old', now: 'new' } },
    ]);
    expect(await redis.handle.client.hget(knownSourcesKey, 'old')).toBeNull();
    await now.engine.takeStragglers();
    expect((await now.events()).map((one) => ('recordId' in one ? one.recordId : '')).sort()).toEqual([
      'late',
      'unplanned',
    ]);
    expect(await old.events()).toEqual([]);
    expect((await old.store.queries.counts()).received).toBe(0);
  });

  test('keeps nothing under it of what an event tells whose job had begun before (audit 14)', async () => {
    const old = await lived();
    const now = unitContext({ source: 'new', vendor: old.vendor });
    await now.engine.rename('old', now.pipeline, nothing);
    const late = plan(eventOf('late', { snapshot: { customer: 'late@example.com' } }), old.context);
    await expect(late).rejects.toThrow(/another name now/);
    expect(await left('old')).toEqual([]);
  });

  test('while the move is on, neither name is worked on, and no pass and no erasure goes over them', async () => {
    const old = await lived();
    const now = unitContext({ source: 'new', client: failingAfter(redis.handle.client, 40) });
    await expect(now.engine.rename('old', now.pipeline, nothing)).rejects.toThrow('cut');
    const watching = unitContext({ source: 'new' });
    for (const { engine, source } of [
      { engine: old.engine, source: 'old' },
      { engine: watching.engine, source: 'new' },
    ]) {
      const job = { source, stage: 'ask', data: { journeyId: 'waits.1' } };
      expect(await engine.runJob(job)).toMatchObject({ do: 'wait' });
    }
    service.standin.answer({ contact: anyone.customer.email, grade: 5 });
    await watching.engine.runJob({ source: 'collect', stage: 'collect', data: { campaign: 12 } });
    const event = { kind: 'erase', at: new Date(), key: 'e', what: 'asked for', receivedAt: new Date() };
    const job = { source: 'other', stage: 'erase', data: { ...event, contacts: [anyone.customer.email] } };
    expect(await unitContext({ source: 'other' }).engine.runJob(job)).toMatchObject({ do: 'wait' });
    await watching.engine.rename('old', watching.pipeline, nothing);
    expect((await watching.store.get('asked.1'))?.answer).toBeUndefined();
    await watching.engine.runJob({ source: 'collect', stage: 'collect', data: { campaign: 12 } });
    expect(await watching.store.get('asked.1')).toMatchObject({ state: 'answered' });
  });
});

/** The process dies after so many commands of its own: none after that one is sent. */
function failingAfter(client: RedisClient, commands: number): RedisClient {
  let count = 0;
  const counted = [
    'eval',
    'evalsha',
    'hset',
    'hsetnx',
    'hdel',
    'hget',
    'set',
    'del',
    'sadd',
    'restore',
    'exists',
    'scan',
    'zcard',
  ] as const;
  const methods = counted.map((name) => [
    name,
    async (...args: unknown[]): Promise<unknown> => {
      if (++count > commands) throw new CloseloopError('cut', { kind: 'transient' });
      return await Reflect.apply(Reflect.get(client, name), client, args);
    },
  ]);
  return overriding(client, Object.fromEntries(methods));
}
