import { describe, expect, test } from 'vitest';
import { step } from '../../../../../worker/journey/transitions.ts';
import { ask, giveUpAsk } from '../../../../../worker/pipeline/ask/ask.ts';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { EraseJob } from '../../../../../worker/pipeline/jobs.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import {
  anyone,
  asking,
  closedAs,
  eventOf,
  hour,
  later,
  open,
  slowCampaign,
  type UnitContext,
  useManual,
} from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;
const create = { method: 'POST', path: '/api/appeals/$' };

async function closesAgain({ vendor, context, store }: UnitContext, id: string) {
  const { length } = await store.records.journeysOf(id);
  vendor.close(id, { ...anyone, ...closedAs(`closing ${length}`, new Date(Date.now() - hour / 60)) });
  await plan(eventOf(id), context);
  const { latest = '' } = await store.records.historyOf(id);
  await ask({ journeyId: latest }, context);
  return await store.get(latest);
}
const askedAlready = { state: 'skipped', reason: 'asked-already', why: expect.stringMatching(/asked already/) };

/** Its eight attempts came to nothing. */
async function failing(unit: UnitContext, id: string) {
  const { context, store, vendor } = unit;
  vendor.close(id, anyone);
  await plan(eventOf(id), context);
  const journeyId = `${id}.1`;
  for (let i = 0; i < 8; i++) {
    service.standin.faults.add({ ...create, then: 'cut' });
    await ask({ journeyId }, context);
    await store.update(journeyId, (now) =>
      now.intent ? { journey: { ...now, intent: { ...now.intent, searchAfter: new Date(0) } }, trace: [] } : undefined,
    );
    await ask({ journeyId }, context);
  }
  expect(await store.get(journeyId)).toMatchObject({ state: 'failed' });
}

describe('a record that is closed again', () => {
  test('it does not ask when the person who was asked has been erased', async () => {
    const unit = unitContext();
    await asking(unit, 'e');
    const event = { kind: 'erase', at: new Date(), key: 'erase', what: 'toy erase', receivedAt: new Date() };
    await erase(EraseJob.parse({ ...event, contacts: [anyone.customer.email] }), unit.context);
    expect(await unit.store.get('e.1')).toMatchObject({ erasedAt: expect.any(Date) });
    expect(await closesAgain(unit, 'e')).toMatchObject(askedAlready);
  });

  test('it asks when the earlier closing has failed without asking anybody', async () => {
    const unit = unitContext({ general: 'retry: { for: 1ms }' });
    await failing(unit, 'f');
    expect(await closesAgain(unit, 'f')).toMatchObject({ state: 'asked' });
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('… and that one, taken up again, asks nobody then', async () => {
    const unit = unitContext({ general: 'retry: { for: 1ms }' });
    const { context, store } = unit;
    await failing(unit, 'f');
    await closesAgain(unit, 'f');
    // "journeys replay"
    await store.update('f.1', (now) => ({ journey: step(now, 'creating', new Date(), { attempts: 1 }), trace: [] }));
    for (let i = 0; i < 3; i++) await ask({ journeyId: 'f.1' }, context);
    expect(await store.get('f.1')).toMatchObject({
      state: 'cancelled',
      why: expect.stringMatching(/closed again since/),
    });
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('it asks when the only one of those merged into it that seemed to have asked has not', async () => {
    const unit = unitContext();
    const { context, store, vendor } = unit;
    vendor.close('a', anyone);
    await plan(eventOf('a'), context);
    service.standin.faults.add({ ...create, then: 'cut' });
    await ask({ journeyId: 'a.1' }, context);
    await giveUpAsk({ journeyId: 'a.1' }, 'toy: no', context);
    await plan(eventOf('a', { kind: 'changed', mergedInto: 'b' }), context);
    await plan(eventOf('b', { kind: 'changed', mergedInto: 'c' }), context);
    expect(await store.records.historyOf('c')).toMatchObject({ asked: 'a.1' });
    // "journeys resolve --not-asked", and then it finds out that its record is another one.
    await store.update('a.1', ({ intent: _, ...now }) => ({
      journey: step(now, 'waiting', new Date(), { attempts: 1 }),
      trace: [],
    }));
    vendor.close('a', { ...anyone, currentId: 'c' });
    await ask({ journeyId: 'a.1' }, context);
    expect(await store.get('a.1')).toMatchObject({ state: 'cancelled' });
    expect(await closesAgain(unit, 'c')).toMatchObject({ state: 'asked' });
  });

  test('it does not ask when a person has cancelled the earlier one, of which nobody knew whether it had asked', async () => {
    const unit = unitContext();
    const { context, store, vendor } = unit;
    vendor.close('p', anyone);
    await plan(eventOf('p'), context);
    service.standin.faults.add({ ...create, then: 'cut' });
    await ask({ journeyId: 'p.1' }, context);
    await giveUpAsk({ journeyId: 'p.1' }, 'toy: no', context);
    await store.update('p.1', (now) => ({ journey: step(now, 'cancelled', new Date()), trace: [] }));
    expect(await closesAgain(unit, 'p')).toMatchObject(askedAlready);
  });

  test('it asks when the request of the earlier one was taken back', async () => {
    slowCampaign(service.standin);
    const unit = unitContext(later);
    await asking(unit, 't');
    unit.vendor.close('t', open);
    await plan(eventOf('t', { kind: 'changed' }), unit.context);
    expect(await closesAgain(unit, 't')).toMatchObject({ state: 'asked' });
  });
});

describe('a closing that gets another name by other settings, of the source or of the vendor', () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, again: each closing }';

  test.each([
    ['at the same time', 0, 1],
    ['at an earlier one', -60_000, 1],
    ['unless it is a later one', 60_000, 2],
  ])('it does not ask again: %s (audit twice)', async (_, laterMs, requests) => {
    const unit = unitContext({ rule });
    const { vendor, context, store } = unit;
    const closedAt = new Date(Date.now() - hour);
    const asks = async (closing: string, at: Date) => {
      vendor.close('n', { ...anyone, ...closedAs(closing, at) });
      await plan(eventOf('n'), context);
      const { latest = '' } = await store.records.historyOf('n');
      await ask({ journeyId: latest }, context);
      return await store.get(latest);
    };
    expect(await asks('by its date', closedAt)).toMatchObject({ id: 'n.1', state: 'asked' });
    const state = requests === 1 ? askedAlready : { state: 'asked' };
    expect(await asks('once', new Date(closedAt.getTime() + laterMs))).toMatchObject({ id: 'n.2', ...state });
    expect(service.standin.requests()).toHaveLength(requests);
  });
});
