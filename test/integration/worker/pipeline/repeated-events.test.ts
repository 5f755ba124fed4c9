import { describe, expect, test } from 'vitest';
import { step } from '../../../../worker/journey/transitions.ts';
import { collect } from '../../../../worker/pipeline/collect/collect.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../worker/pipeline/source-pipeline.ts';
import { writeBack } from '../../../../worker/pipeline/write-back/write-back.ts';
import {
  anyone,
  asking,
  eventOf,
  goesAhead,
  hasAsked,
  later,
  open,
  overriding,
  slowCampaign,
  type UnitContext,
  useManual,
} from '../../../support/manual.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const service = useManual();
const { redis, unitContext } = service;

describe('an event that is told of several times', () => {
  const event = { kind: 'closed', recordId: 'e', at: new Date(), key: 'the same', what: 'toy closed' } as const;
  test.each([
    [
      'the vendor',
      async ({ engine }) => await engine.ingestion.store('calm', [{ ...event, certain: true }], new Date()),
    ],
    ['closeloop itself', async ({ context }) => await context.queueEvent({ ...event, receivedAt: new Date() })],
    [
      'the poll',
      async ({ pipeline }) => {
        // As if the cursor had been lost, and it was due again.
        await redis.handle.client.hset('{cl:calm}:poll', { since: 0, begunAt: 0, cursor: 'first' });
        await pipeline.poll();
      },
    ],
  ] satisfies [string, (unit: UnitContext) => Promise<void>][])('it waits once: %s', async (_, tell) => {
    const vendor = new ToyVendor();
    vendor.pages = async () => ({ events: [event], cursor: 'end', done: true, reached: new Date() });
    const unit = unitContext({ vendor });
    await unit.engine.openIngestion();
    for (let i = 0; i < 3; i++) await tell(unit);
    expect(await unit.events()).toMatchObject([{ key: 'the same' }]);
  });
});

describe('events about one record that are planned at once', () => {
  test('two of one closing make one journey, which names both', async () => {
    slowCampaign(service.standin);
    const { context, store, vendor, told, trace } = unitContext(later);
    vendor.close('t', anyone);
    await Promise.all(['one', 'other'].map((key) => plan(eventOf('t', { key, via: 'webhook' }), context)));
    expect(await store.records.journeysOf('t')).toMatchObject([{ id: 't.1', state: 'waiting' }]);
    expect(await trace('t.1')).toMatch(/another webhook for the same closing/);
    for (const key of ['one', 'other'])
      expect(await (await store.records.read('t')).journeyOf(key, undefined)).toMatchObject({ id: 't.1' });
    // Reported by the one that stored it, as is what the poll has found before a webhook.
    expect(told.filter(({ message }) => message === 'received' || message === 'waiting')).toHaveLength(2);
  });

  test('of two closings the later one is asked about, though the earlier one was read before and planned after it', async () => {
    slowCampaign(service.standin);
    const { context, store, vendor } = unitContext(later);
    vendor.close('u', anyone);
    const read: typeof context.read = async (...about) => {
      const status = await context.read(...about);
      // Reopened, closed again and planned, by another process, before this one goes on.
      if ((await store.records.journeysOf('u')).length === 0) {
        vendor.close('u', anyone);
        await plan(eventOf('u', { key: 'again' }), context);
      }
      return status;
    };
    await plan(eventOf('u', { key: 'first' }), { ...context, read });
    const journeys = await store.records.journeysOf('u');
    const waiting = journeys.filter(({ state }) => state === 'waiting');
    expect(await context.read('u', 'plan')).toMatchObject({ is: 'closed', closing: waiting[0]?.closing });
    expect(waiting).toHaveLength(1);
  });
});

test('a later closing is asked about also where its worker was killed when it had only ended the journey of the earlier one', async () => {
  slowCampaign(service.standin);
  const { context, store, vendor } = unitContext(later);
  vendor.close('k', anyone);
  await plan(eventOf('k', { key: 'first' }), context);
  vendor.close('k', anyone);
  const update: typeof store.update = async (of, ...rest) => {
    if (typeof of !== 'string' && of.id === 'k.2') throw new Error('killed');
    return await store.update(of, ...rest);
  };
  const second = eventOf('k', { key: 'second' });
  await expect(plan(second, { ...context, store: overriding(store, { update }) })).rejects.toThrow('killed');
  expect(await store.records.journeysOf('k')).toMatchObject([{ id: 'k.1', state: 'cancelled' }]);
  await plan(second, context);
  expect(await store.records.journeysOf('k')).toMatchObject([{ state: 'cancelled' }, { id: 'k.2', state: 'waiting' }]);
});

test('a closing whose campaign can not be read has a journey all the same', async () => {
  slowCampaign(service.standin);
  const { context, store, vendor, trace } = unitContext(later);
  vendor.close('v', anyone);
  const campaigns = overriding(context.campaigns, { get: () => Promise.reject(new Error('toy: no campaign')) });
  await expect(plan(eventOf('v'), { ...context, campaigns })).rejects.toThrow('toy: no campaign');
  expect(await store.records.journeysOf('v')).toMatchObject([{ id: 'v.1', state: 'received' }]);
  await plan(eventOf('v'), context);
  expect(await store.records.journeysOf('v')).toMatchObject([{ id: 'v.1', state: 'waiting' }]);
  expect((await trace('v.1')).match(/received /g)).toHaveLength(1);
});

test("an event whose journey could not be planned stays that journey's, though its record was closed again meanwhile", async () => {
  slowCampaign(service.standin);
  const { context, store, vendor } = unitContext(later);
  vendor.close('w', anyone);
  const campaigns = overriding(context.campaigns, { get: () => Promise.reject(new Error('toy: no campaign')) });
  const event = eventOf('w', { key: 'again' });
  await expect(plan(event, { ...context, campaigns })).rejects.toThrow('toy: no campaign');
  vendor.close('w', anyone);
  await plan(event, context);
  expect(await store.records.journeysOf('w')).toMatchObject([{ id: 'w.1', state: 'waiting' }]);
});

test('the event of a record that is reopened while it is being asked comes again until the outcome is known', async () => {
  slowCampaign(service.standin);
  const { context, store, vendor } = unitContext(later);
  vendor.close('r', anyone);
  await plan(eventOf('r'), context);
  await goesAhead(context, 'r.1');
  vendor.close('r', { ...anyone, ...open });
  const changed = eventOf('r', { kind: 'changed' });
  expect(await plan(changed, context)).toMatchObject({ do: 'wait' });
  const contact = { kind: 'email', value: 'erika@example.com' } as const;
  const { id } = await context.feedback.create({ campaign: 112, contact, customFields: {} });
  await hasAsked(context, 'r.1', id);
  expect(await plan(changed, context)).toEqual({ do: 'done' });
  expect(await store.get('r.1')).toMatchObject({ state: 'cancelled' });
  expect(service.standin.requests().map(({ status }) => status)).toEqual(['Cancelled']);
});

describe('while it is at work, no second one begins', () => {
  test('a pass over a campaign', async () => {
    const { context } = unitContext();
    const { clock, log, alert } = context;
    let begun = 0;
    const passWith = async (client: SourceContext['feedback']): Promise<void> => {
      const shared = { redis: redis.handle.client, sources: async () => [context], clock, log, alert };
      await collect({ campaign: 12 }, { ...shared, feedback: client, fullEveryMs: 0, lastErrors: new Map() });
    };
    const nested: SourceContext['feedback'] = {
      ...context.feedback,
      campaign: async (id) => {
        begun++;
        if (begun === 1) await passWith(nested);
        return await context.feedback.campaign(id);
      },
    };
    await passWith(nested);
    expect(begun).toBe(1);
    await passWith(nested);
    expect(begun).toBe(2);
  });

  test('a poll', async () => {
    const vendor = new ToyVendor();
    vendor.pages = async () => await Promise.reject(new Error('replaced below'));
    const { pipeline } = unitContext({ vendor });
    const due = async () => await redis.handle.client.hset('{cl:calm}:poll', { since: 0, begunAt: 0 });
    let begun = 0;
    vendor.pages = async () => {
      begun++;
      await due();
      if (begun === 1) await pipeline.poll();
      return { events: [], cursor: 'end', done: true, reached: new Date() };
    };
    await due();
    await pipeline.poll();
    expect(begun).toBe(1);
    await pipeline.poll();
    expect(begun).toBe(2);
  });
});

test('an older grade that was on its way for long does not stay on the record', async () => {
  const vendor = new ToyVendor();
  const unit = unitContext({ vendor });
  const { context, store } = unit;
  await asking(unit, 'g');
  const graded = async (grade: number, version: number) =>
    await store.update('g.1', (now) => {
      const answer = { grade, comment: null, seenAt: new Date(), version };
      return { journey: step(now, 'answered', new Date(), { answer }), trace: [] };
    });
  await graded(1, 1);
  vendor.beforeWriteBack = async () => {
    vendor.beforeWriteBack = undefined;
    // The newer one is collected and written by another worker before this call gets through.
    await graded(5, 2);
    await writeBack({ journeyId: 'g.1' }, context);
    expect(await store.get('g.1')).toMatchObject({ state: 'written', writtenVersion: 2 });
  };
  const late = await writeBack({ journeyId: 'g.1' }, context);
  expect(late).toEqual({ do: 'wait', delayMs: 0 });
  await writeBack({ journeyId: 'g.1' }, context);
  expect(vendor.written.map(({ grade }) => grade)).toEqual([5, 1, 5]);
  expect(await store.get('g.1')).toMatchObject({ state: 'written', writtenVersion: 2 });
});

test('"no answer" is written once, though its job is run again after a crash', async () => {
  const vendor = new ToyVendor();
  vendor.writesNoAnswer = true;
  const unit = unitContext({ vendor });
  const { context, store } = unit;
  await asking(unit, 'c');
  await store.update('c.1', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
  for (let i = 0; i < 2; i++) await writeBack({ journeyId: 'c.1', noAnswer: true }, context);
  expect(vendor.written).toMatchObject([{ recordId: 'c', status: 'no-answer' }]);
});
