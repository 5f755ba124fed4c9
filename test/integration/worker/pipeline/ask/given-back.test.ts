import { describe, expect, test } from 'vitest';
import { ask, giveUpAsk } from '../../../../../worker/pipeline/ask/ask.ts';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { planAndAsk, Readings } from '../../../../../worker/pipeline/plan-and-ask.ts';
import { cancel } from '../../../../../worker/support/repair.ts';
import {
  anyone,
  closedAs,
  eraseOf,
  eventOf,
  later,
  open,
  overriding,
  slowCampaign,
  type UnitContext,
  useManual,
} from '../../../../support/manual.ts';

/** What a journey that asked nobody gives back: its places under caps, and its contact's note, which throttles count. */

const world = useManual();
const sent = () => world.standin.requests().length;
/** The closing of somebody else has the place. */
async function asksNext({ vendor, context, store }: UnitContext): Promise<void> {
  vendor.close('b', { customer: { email: 'b@b.ee' } });
  await plan(eventOf('b'), context);
  await ask({ journeyId: 'b.1' }, context);
  expect((await store.get('b.1'))?.state).toBe('asked');
}
const goes = () => planAndAsk(async () => false, new Readings(), { asking: 500 });

test('a request that was cancelled at the service holds back nobody, though the worker was killed when that was saved', async () => {
  slowCampaign(world.standin);
  const rule = '{ name: all, campaign: 112, contact: customer.email, throttle: 30d }';
  const here = world.unitContext({ ...later, rule });
  const { context, store, vendor } = here;
  vendor.close('a', { ...anyone, ...closedAs('one') });
  await goes()(eventOf('a'), context);
  expect(await store.get('a.1')).toMatchObject({ state: 'asked' });
  vendor.close('a', { ...anyone, ...open });
  const reopened = eventOf('a', { kind: 'changed', what: 'toy changed' });
  const update: typeof store.update = async (...args) => {
    const after = await store.update(...args);
    if (after?.state === 'cancelled') throw new Error('killed');
    return after;
  };
  await expect(plan(reopened, { ...context, store: overriding(store, { update }) })).rejects.toThrow('killed');
  // The next worker takes the job up.
  await plan(reopened, context);
  expect(await store.get('a.1')).toMatchObject({ state: 'cancelled' });
  vendor.close('a', { ...anyone, ...closedAs('two') });
  await goes()(eventOf('a'), context);
  const journey = await store.get('a.2');
  expect([journey?.state, journey?.why]).toEqual(['asked', undefined]);
});

test('a journey that failed without having asked holds back no other closing of its person', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, throttle: 30d }';
  const { context, store, vendor } = world.unitContext({ rule, general: 'retry: { for: 1ms }' });
  vendor.close('a', anyone);
  await plan(eventOf('a'), context);
  world.standin.faults.add({ method: 'POST', path: '/api/appeals/$', then: 'cut', times: 8 });
  const now = { ...context, searchAfterMs: 0, callMs: 0 };
  const clock = { ...context.clock, until: () => 0 };
  for (let n = 0; n < 40 && (await store.get('a.1'))?.state !== 'failed'; n++)
    await ask({ journeyId: 'a.1' }, { ...now, clock });
  const failed = await store.get('a.1');
  expect(failed).toMatchObject({ state: 'failed' });
  expect(failed).not.toHaveProperty('requestId');
  expect(sent()).toBe(0);
  vendor.close('b', anyone);
  await plan(eventOf('b'), context);
  await ask({ journeyId: 'b.1' }, context);
  const other = await store.get('b.1');
  expect([other?.state, other?.why]).toEqual(['asked', undefined]);
});

test('a place under a cap is given back by a journey whose request the service refused for good', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, cap: { day: 1 } }';
  const here = world.unitContext({ rule });
  const { context, store, vendor } = here;
  vendor.close('a', { customer: { email: 'a@b.ee' } });
  await plan(eventOf('a'), context);
  world.standin.faults.add({
    method: 'POST',
    path: '/api/appeals/$',
    status: 400,
    body: { error: { code: 'x', message: 'no' }, email: ['not a deliverable address'] },
  });
  await expect(ask({ journeyId: 'a.1' }, context)).rejects.toThrow('answered 400');
  await giveUpAsk({ journeyId: 'a.1' }, 'refused', context);
  expect(await store.get('a.1')).toMatchObject({ state: 'failed' });
  await asksNext(here);
});

test('a place under a cap that is taken after its journey was cancelled by a person is given back', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, cap: { day: 1 } }';
  const here = world.unitContext({ rule });
  const { context, store, vendor } = here;
  vendor.close('a', { customer: { email: 'a@b.ee' } });
  await plan(eventOf('a'), context);
  const { caps } = context;
  const take: typeof caps.take = async (...args) => {
    await cancel((await store.get('a.1')) ?? expect.fail('none'), 'a person', context);
    return await caps.take(...args);
  };
  await ask({ journeyId: 'a.1' }, { ...context, caps: overriding(caps, { take }) });
  expect((await store.get('a.1'))?.state).toBe('cancelled');
  await asksNext(here);
});

test('a place under a cap is given back by a journey whose person was erased while it came to ask', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, cap: { day: 1 } }';
  const here = world.unitContext({ rule });
  const { context, store, vendor } = here;
  vendor.close('a', { customer: { email: 'a@b.ee' }, personId: 'p-7' });
  const { caps } = context;
  const take: typeof caps.take = async (...args) => {
    const slot = await caps.take(...args);
    await erase(eraseOf({ personIds: ['p-7'] }), context);
    return slot;
  };
  await goes()(eventOf('a'), { ...context, caps: overriding(caps, { take }) });
  expect(await store.get('a.1')).toMatchObject({ state: 'cancelled', erasedAt: expect.any(Date) });
  await asksNext(here);
});

describe('a journey that asks nobody gives back every place that it has under a cap, whatever the configuration says by now', () => {
  const one = '{ name: all, campaign: 12, contact: customer.email, cap: { day: 1 } }';
  const uncapped = '{ name: all, campaign: 12, contact: customer.email }';
  const ends = async (here: UnitContext) =>
    void (await cancel((await here.store.get('a.1')) ?? expect.fail('none'), 'a person', here.context));
  const asks = async ({ context }: UnitContext) => void (await ask({ journeyId: 'a.1' }, context));
  type Settings = { rule: string; general?: string };
  const rows: [what: string, before: Settings, since: Settings, ...steps: ((here: UnitContext) => Promise<void>)[]][] =
    [
      ['its rule was renamed', { rule: one }, { rule: one.replace('all', 'everybody') }, ends],
      [
        'its rule was removed',
        { rule: one },
        { rule: `{ when: 'false', ${uncapped.slice(1).replace('all', 'x')}` },
        ends,
      ],
      [
        'its rule was removed, so that no rule asks about its closing',
        { rule: one },
        { rule: `{ when: 'false', ${uncapped.slice(1).replace('all', 'x')}` },
        asks,
      ],
      ['its rule has no cap any more', { rule: one }, { rule: uncapped }, ends],
      [
        'its rule asks in another campaign',
        { rule: uncapped, general: 'policy: { campaigns: { 12: { cap: { day: 1 } } } }' },
        { rule: uncapped.replace('12', '213') },
        ends,
      ],
      [
        'its campaign has left a group',
        { rule: uncapped, general: 'policy: { groups: { g: { campaigns: [12], cap: { day: 1 } } } }' },
        { rule: uncapped, general: 'policy: { groups: { g: { campaigns: [213], cap: { day: 1 } } } }' },
        ends,
      ],
      [
        'the policy has no cap any more',
        { rule: uncapped, general: 'policy: { cap: { day: 1 } }' },
        { rule: uncapped },
        ends,
      ],
      [
        'it asks the test contact, as test mode holds by now',
        { rule: one },
        { rule: `${one.slice(0, -2)}, test: { email: me@acme.com } }` },
        asks,
      ],
    ];

  test.each(rows)('%s', async (_, before, since, ...steps) => {
    world.standin.addCampaign({ account: 'acme', id: 213, name: 'Always', type: 'email' });
    const here = world.unitContext(before);
    const { context, vendor } = here;
    vendor.close('a', { customer: { email: 'a@b.ee' } });
    await plan(eventOf('a'), context);
    // It has taken its place, and its worker is killed before it asks.
    const killed = { ...context, read: () => Promise.reject(new Error('killed')) };
    await expect(ask({ journeyId: 'a.1' }, killed)).rejects.toThrow('killed');
    for (const step of steps) await step(world.unitContext({ ...since, vendor }));
    // The settings are put back.
    await asksNext(here);
  });

  test('… and a journey that asks keeps no place but under the caps that hold now', async () => {
    const { client } = world.redis.handle;
    const here = world.unitContext({ rule: one });
    const { context, vendor, store } = here;
    vendor.close('a', { customer: { email: 'a@b.ee' } });
    await plan(eventOf('a'), context);
    const killed = { ...context, read: () => Promise.reject(new Error('killed')) };
    await expect(ask({ journeyId: 'a.1' }, killed)).rejects.toThrow('killed');
    const now = world.unitContext({ rule: uncapped, general: 'policy: { cap: { day: 1 } }', vendor });
    await ask({ journeyId: 'a.1' }, now.context);
    expect((await store.get('a.1'))?.state).toBe('asked');
    expect(await client.keys('{cl}:cap:*')).toEqual(['{cl}:cap:policy']);
    expect(await client.smembers('{cl}:caps')).toEqual(['policy']);
    for (const key of ['{cl}:cap:policy', '{cl}:caps']) expect(await client.pttl(key)).toBeGreaterThan(0);
  });
});
