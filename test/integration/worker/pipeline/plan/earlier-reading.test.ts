import { expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../../../worker/pipeline/clock.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { planAndAsk, Readings } from '../../../../../worker/pipeline/plan-and-ask.ts';
import { anyone, closedAs, eventOf, hour, open, overriding, useManual } from '../../../../support/manual.ts';

/** What a process that read a record before others did makes of that reading. */

const world = useManual();
const sent = () => world.standin.requests().length;
const goes = () => planAndAsk(async () => false, new Readings(), { asking: 500 });

/** A clock that the test moves. */
function moved() {
  let ahead = 0;
  const now = () => new Date(Date.now() + ahead);
  const clock = { ...liveClock, now, until: (at: Date) => Math.max(0, at.getTime() - now().getTime()) };
  return { clock, pass: (ms: number) => (ahead += ms) };
}

test('a journey of a later closing is not ended by an earlier reading of an earlier closing', async () => {
  const { clock, pass } = moved();
  const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
  const here = world.unitContext({ rule, clock });
  const elsewhere = world.unitContext({ rule, clock, vendor: here.vendor });
  const { context } = here;
  here.vendor.close('a', { ...anyone, ...closedAs('one') });
  let isOver = false;
  const get: typeof context.campaigns.get = async (id) => {
    const campaign = await context.campaigns.get(id);
    if (!isOver) {
      isOver = true;
      // Reopened and closed again, and its event planned by another process.
      here.vendor.close('a', { ...anyone, ...closedAs('two') });
      await goes()(eventOf('a'), elsewhere.context);
      expect(await here.store.get('a.1')).toMatchObject({ state: 'waiting', closing: 'two' });
    }
    return campaign;
  };
  await goes()(eventOf('a'), { ...context, campaigns: overriding(context.campaigns, { get }) });
  expect(isOver).toBe(true);
  pass(2 * hour);
  for (const { id } of await here.store.records.journeysOf('a')) await ask({ journeyId: id }, context);
  for (const event of await here.events()) await plan(event, context);
  for (const { id } of await here.store.records.journeysOf('a')) await ask({ journeyId: id }, context);
  expect(sent()).toBe(1);
});

test('nobody is asked about a record that was reopened, where another record was merged into it before', async () => {
  const here = world.unitContext();
  const elsewhere = world.unitContext({ vendor: here.vendor });
  const { context, store, vendor } = here;
  // One that asks nobody, and is merged into `a`.
  vendor.close('z', { customer: {}, ...closedAs('z') });
  await goes()(eventOf('z'), elsewhere.context);
  expect(await store.get('z.1')).toMatchObject({ state: 'skipped', reason: 'no-contact' });
  vendor.records.delete('z');
  await goes()(eventOf('z', { kind: 'changed', what: 'toy merged', mergedInto: 'a' }), elsewhere.context);
  vendor.close('a', { ...anyone, ...closedAs('one') });
  let isOver = false;
  const get: typeof context.campaigns.get = async (id) => {
    if (!isOver) {
      isOver = true;
      vendor.close('a', { ...anyone, ...open });
      await goes()(eventOf('a', { kind: 'changed', what: 'toy changed' }), elsewhere.context);
    }
    return await context.campaigns.get(id);
  };
  await goes()(eventOf('a'), { ...context, campaigns: overriding(context.campaigns, { get }) });
  expect(isOver).toBe(true);
  expect(sent()).toBe(0);
});

test('nobody is asked about a record that is back, and was reopened since', async () => {
  const here = world.unitContext();
  const elsewhere = world.unitContext({ vendor: here.vendor });
  const { context, store, vendor } = here;
  const hourly = world.unitContext({ vendor, rule: '{ name: all, campaign: 12, contact: customer.email, delay: 1h }' });
  vendor.close('a', { ...anyone, ...closedAs('one') });
  await goes()(eventOf('a'), hourly.context);
  const record = vendor.records.get('a') ?? expect.fail('none');
  vendor.records.delete('a');
  await goes()(eventOf('a', { kind: 'changed', what: 'toy changed' }), elsewhere.context);
  expect(await store.get('a.1')).toMatchObject({ state: 'cancelled', wasOut: true });
  vendor.records.set('a', record);
  const read: typeof context.read = async (...about) => {
    const status = await context.read(...about);
    vendor.close('a', { ...anyone, ...open });
    await goes()(eventOf('a', { kind: 'changed', what: 'toy changed' }), elsewhere.context);
    return status;
  };
  await goes()(eventOf('a'), { ...context, read });
  expect(sent()).toBe(0);
});
