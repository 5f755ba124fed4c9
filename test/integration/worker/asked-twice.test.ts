import { describe, expect, test } from 'vitest';
import { step } from '../../../worker/journey/transitions.ts';
import { ask, giveUpAsk } from '../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../worker/pipeline/clock.ts';
import { plan } from '../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../worker/pipeline/source-pipeline.ts';
import { sweep } from '../../../worker/pipeline/sweep.ts';
import {
  anyone,
  closedAs,
  eventOf,
  hour,
  later,
  open,
  slowCampaign,
  type UnitContext,
  useManual,
} from '../../support/manual.ts';

const service = useManual();
const { redis, unitContext } = service;
const create = { method: 'POST', path: '/api/appeals/$' };
const requests = () => service.standin.requests();
const ago = (hours: number) => new Date(Date.now() - hours * hour);
const emptied = async () => void (await redis.handle.client.flushall());

/** Runs its job as often as it takes; what is to be looked for later is looked for now. */
async function asks({ store }: UnitContext, journeyId: string, context: SourceContext) {
  for (let n = 0; n < 5; n++) {
    await ask({ journeyId }, context);
    await store.update(journeyId, (now) =>
      now.intent ? { journey: { ...now, intent: { ...now.intent, searchAfter: new Date(0) } }, trace: [] } : undefined,
    );
  }
  return await store.get(journeyId);
}
/** A record closes, and its customer is asked, or not. */
async function closes(
  unit: UnitContext,
  id: string,
  closing: string,
  { closedAt = ago(1), askedAt = new Date() } = {},
) {
  const { store, vendor } = unit;
  vendor.close(id, { ...anyone, ...closedAs(closing, closedAt) });
  const context = { ...unit.context, clock: { ...liveClock, now: () => askedAt } };
  await plan(eventOf(id), context);
  const { latest = '' } = await store.records.historyOf(id);
  return await asks(unit, latest, context);
}
const isAsked = { state: 'asked' };
const isParked = { state: 'parked' };

describe('what the service knows and Redis has lost', () => {
  test.each(['never', 'each closing'])(
    'a closing whose journey had another number is known by its marker: %s',
    async (again) => {
      service.standin.addCampaign({ account: 'acme', id: 40, customFields: [{ name: 'closeloop' }] });
      const unit = unitContext({ rule: `{ name: all, campaign: 40, contact: customer.email, again: ${again} }` });
      const { vendor, context } = unit;
      vendor.close('a', { customer: {}, ...closedAs('one', ago(3)) });
      await plan(eventOf('a'), context);
      expect(await closes(unit, 'a', 'two')).toMatchObject({ id: 'a.2', ...isAsked });
      await emptied();
      expect(await closes(unit, 'a', 'two')).toMatchObject({ id: 'a.1', ...isAsked });
      expect(requests()).toHaveLength(1);
    },
  );

  test('two records of one person, told of again, ask nobody again (audit twice)', async () => {
    const rule = '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }';
    const unit = unitContext({ rule });
    const tell = async () => {
      await closes(unit, 'a', 'one', { closedAt: ago(4), askedAt: ago(3) });
      await closes(unit, 'b', 'one', { closedAt: ago(3.5), askedAt: ago(2) });
    };
    await tell();
    expect(requests()).toHaveLength(2);
    await emptied();
    await tell();
    // Which is whose can't be told: a person decides.
    expect([await unit.store.get('a.1'), await unit.store.get('b.1')]).toMatchObject([isParked, isParked]);
    expect(requests()).toHaveLength(2);
  });

  test('a record asks nobody again though another one of its customer has asked since (audit twice)', async () => {
    const unit = unitContext();
    const a = { closedAt: ago(4), askedAt: ago(3) };
    expect(await closes(unit, 'a', 'one', a)).toMatchObject(isAsked);
    await emptied();
    expect(await closes(unit, 'b', 'one', { closedAt: ago(2) })).toMatchObject(isAsked);
    expect(await closes(unit, 'a', 'one', { closedAt: a.closedAt })).toMatchObject(isParked);
    expect(requests()).toHaveLength(2);
  });
});

test('a request that was taken back, which Redis has lost, does not keep a later closing from asking (audit twice)', async () => {
  slowCampaign(service.standin);
  const unit = unitContext(later);
  expect(await closes(unit, 'a', 'one')).toMatchObject(isAsked);
  unit.vendor.close('a', open);
  await plan(eventOf('a', { kind: 'changed' }), unit.context);
  await emptied();
  expect(await closes(unit, 'a', 'two', { closedAt: new Date() })).toMatchObject(isAsked);
  expect(
    requests()
      .map(({ status }) => status)
      .toSorted(),
  ).toEqual(['Cancelled', 'Scheduled']);
});

test('a record whose journey was removed asks nobody again, though journeys are kept longer now (audit twice)', async () => {
  const short = unitContext({ general: 'retention: { journeys: 1d }' });
  const { context, vendor } = short;
  const a = { closedAt: ago(80), askedAt: ago(79) };
  expect(await closes(short, 'a', 'one', a)).toMatchObject(isAsked);
  expect(await closes(short, 'b', 'one')).toMatchObject(isAsked);
  for (const to of ['answered', 'written'] as const) {
    const answer = { grade: 4, comment: null, seenAt: ago(70), version: 1 };
    await short.store.update('a.1', (now) => ({ journey: step(now, to, ago(70), { answer }), trace: [] }));
  }
  await sweep(context, { expireAfterMs: 1_000 * hour, retentionMs: context.keepMs });
  expect(await short.store.get('a.1')).toBeUndefined();
  const long = unitContext({ vendor, general: 'retention: { journeys: 365d }' });
  expect(await closes(long, 'a', 'one', a)).toMatchObject(isAsked);
  expect(requests()).toHaveLength(2);
});

describe('a record that has asked about an earlier closing', () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, again: each closing }';

  test('that is not forgotten when the service refuses to ask about a later one (audit twice)', async () => {
    const unit = unitContext({ rule });
    const { context, store, vendor } = unit;
    const first = { closedAt: ago(4) };
    expect(await closes(unit, 'a', 'one', first)).toMatchObject({ id: 'a.1', ...isAsked });
    service.standin.faults.add({ ...create, status: 429 });
    vendor.close('a', { ...anyone, ...closedAs('two') });
    await plan(eventOf('a'), context);
    await expect(ask({ journeyId: 'a.2' }, context)).rejects.toThrow('429');
    expect(await store.records.historyOf('a')).toMatchObject({ asked: 'a.1' });
    // The rule is changed, and asks once from now on.
    const once = unitContext({ vendor });
    expect(await closes(once, 'a', 'three')).toMatchObject({ id: 'a.3', state: 'skipped' });
    expect(requests()).toHaveLength(1);
  });

  test('an older closing that had failed, taken up again, asks nobody after a later one has asked (audit twice)', async () => {
    const unit = unitContext({ rule });
    const { context, store, vendor } = unit;
    vendor.close('a', { ...anyone, ...closedAs('one', ago(4)) });
    await plan(eventOf('a'), context);
    await giveUpAsk({ journeyId: 'a.1' }, 'toy: no', context);
    expect(await closes(unit, 'a', 'two', { closedAt: ago(2) })).toMatchObject({ id: 'a.2', ...isAsked });
    await store.update('a.1', (now) => ({ journey: step(now, 'waiting', new Date()), trace: [] }));
    expect(await asks(unit, 'a.1', context)).toMatchObject({ state: 'cancelled' });
    expect(requests()).toHaveLength(1);
  });
});

test('a record that turns out to be another one, of which nobody told, does not ask when it has asked before (audit twice)', async () => {
  const unit = unitContext();
  const { context, store, vendor } = unit;
  expect(await closes(unit, 'a', 'one')).toMatchObject(isAsked);
  vendor.close('a', { ...anyone, ...closedAs('two'), currentId: 'b' });
  await plan(eventOf('a'), context);
  await ask({ journeyId: 'b.1' }, context);
  expect(await store.get('b.1')).toMatchObject({ state: 'skipped', why: expect.stringMatching(/asked already/) });
  expect(await store.get('a.1')).toMatchObject({ currentId: 'b' });
  expect(requests()).toHaveLength(1);
});

test('a request that a page in between says to have cancelled is not taken for cancelled (audit twice)', async () => {
  slowCampaign(service.standin);
  const unit = unitContext(later);
  const { context, vendor } = unit;
  expect(await closes(unit, 'a', 'one')).toMatchObject(isAsked);
  vendor.close('a', open);
  const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Back soon</p>' };
  service.standin.faults.add({ method: 'POST', path: '/cancel', ...page });
  await plan(eventOf('a', { kind: 'changed' }), context).catch(() => undefined);
  await closes(unit, 'a', 'two');
  expect(requests().filter(({ status }) => status !== 'Cancelled')).toHaveLength(1);
});
