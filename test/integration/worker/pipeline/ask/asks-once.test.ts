import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../../core/errors.ts';
import type { Reservation } from '../../../../../worker/journey/contacts.ts';
import type { Intent } from '../../../../../worker/journey/journey.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import { ask, giveUpAsk } from '../../../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../../../worker/pipeline/clock.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import {
  anyone,
  asking,
  closedAs,
  eventOf,
  goesAhead,
  hasAsked,
  hour,
  intentNow,
  overriding,
  useManual,
} from '../../../../support/manual.ts';

const service = useManual();
const { redis, unitContext } = service;

describe('an attempt to ask that another worker has taken over', () => {
  /** A journey that is about to ask. */
  async function aboutToAsk() {
    const unit = unitContext();
    unit.vendor.close('o', anyone);
    await plan(eventOf('o'), unit.context);
    return unit;
  }
  const theirs = { state: 'creating', intent: { token: 'another worker' } };

  test('it sends nothing', async () => {
    const { context, store } = await aboutToAsk();
    const contacts = overriding(context.contacts, {
      reserve: async (request: Reservation) => {
        const held = await context.contacts.reserve(request);
        await goesAhead(context, 'o.1');
        return held;
      },
    });
    expect(await ask({ journeyId: 'o.1' }, { ...context, contacts })).toEqual({ do: 'done' });
    expect(service.standin.requests()).toEqual([]);
    expect(await store.get('o.1')).toMatchObject(theirs);
  });

  test.each(['refused', 'unknown', 'never-sent'] as const)(
    'what comes of it (%s) says nothing about theirs',
    async (outcome) => {
      const { context, store } = await aboutToAsk();
      const create = async (): Promise<never> => {
        // While its call was under way it was looked for, not found, and begun anew.
        await store.update('o.1', (now) => ({ journey: step(now, 'waiting', new Date()), trace: [] }));
        await goesAhead(context, 'o.1');
        throw new CloseloopError('toy: no', { kind: 'transient' }, { outcome });
      };
      const late: SourceContext = { ...context, feedback: { ...context.feedback, create } };
      await ask({ journeyId: 'o.1' }, late).catch(() => undefined);
      const now = await store.get('o.1');
      expect(now).toMatchObject(theirs);
      // The service is still at work on theirs.
      expect(now?.intent?.searchAfter.getTime()).toBeGreaterThan(Date.now() + hour / 2);
    },
  );

  test('its answer, when it comes late, does not take the journey back', async () => {
    const { context, store } = await aboutToAsk();
    const create: SourceContext['feedback']['create'] = async (request) => {
      const made = await context.feedback.create(request);
      // Meanwhile it was found, answered, and the grade could not be written.
      await hasAsked(context, 'o.1', made.id);
      await store.update('o.1', (now) => {
        const answer = { grade: 4, comment: null, seenAt: new Date(), version: 1 };
        const answered = step(now, 'answered', new Date(), { answer });
        return { journey: step(answered, 'parked', new Date(), { why: 'toy: no' }), trace: [] };
      });
      return made;
    };
    await ask({ journeyId: 'o.1' }, { ...context, feedback: { ...context.feedback, create } });
    expect(await store.get('o.1')).toMatchObject({ state: 'parked', answer: { grade: 4 } });
  });

  test.each([
    ['nothing', 0],
    ['too much', 2],
  ])('its look-up, which finds %s, says nothing about theirs', async (_, found) => {
    const { context, store } = await aboutToAsk();
    await goesAhead(context, 'o.1');
    const mine: Intent = { ...intentNow(), token: 'mine', searchAfter: new Date(0) };
    await store.update('o.1', (now) => ({ journey: { ...now, intent: mine }, trace: [] }));
    const contact = { kind: 'email', value: 'erika@example.com' } as const;
    for (let i = 0; i < found; i++) await context.feedback.create({ campaign: 12, contact, customFields: {} });
    const racing: SourceContext = {
      ...context,
      limitedSearches: async (look) => {
        const result = await look();
        await store.update('o.1', (now) => ({ journey: { ...now, intent: intentNow() }, trace: [] }));
        return result;
      },
    };
    await ask({ journeyId: 'o.1' }, racing);
    expect(await store.get('o.1')).toMatchObject(theirs);
  });

  test('it is not looked for before they must be done', async () => {
    const { context, store } = await aboutToAsk();
    await goesAhead(context, 'o.1');
    const again = await ask({ journeyId: 'o.1' }, context);
    expect(again.do === 'wait' ? again.delayMs : 0).toBeGreaterThan(hour / 2);
    expect(await store.get('o.1')).toMatchObject(theirs);
  });
});

test('an attempt to ask by a process that stood still before it sent anything sends nothing, and starts anew', async () => {
  let stoodStillMs = 0;
  const { context, store, vendor, trace } = unitContext({ now: () => new Date(Date.now() + stoodStillMs) });
  vendor.close('s', anyone);
  await plan(eventOf('s'), context);
  const replicated = async () => {
    stoodStillMs = 10_000;
  };
  await expect(ask({ journeyId: 's.1' }, { ...context, replicated })).rejects.toMatchObject({ outcome: 'never-sent' });
  expect(service.standin.requests()).toEqual([]);
  expect(await store.get('s.1')).toMatchObject({ state: 'waiting' });
  expect(await trace('s.1')).toMatch(/stood still/);
  stoodStillMs = 0;
  await ask({ journeyId: 's.1' }, context);
  expect(await store.get('s.1')).toMatchObject({ state: 'asked' });
  expect(service.standin.requests()).toHaveLength(1);
});

test('an attempt to ask by a machine that was suspended, its clock as well, sends nothing when another has asked', async () => {
  const { context, store, vendor } = unitContext();
  vendor.close('v', anyone);
  await plan(eventOf('v'), context);
  const contact = { kind: 'email', value: 'erika@example.com' } as const;
  const replicated = async () => {
    // For the others it was long enough to look for the request, and to ask.
    await store.update('v.1', (now) => ({ journey: step(now, 'waiting', new Date()), trace: [] }));
    await goesAhead(context, 'v.1');
    const { id } = await context.feedback.create({ campaign: 12, contact, customFields: {} });
    await hasAsked(context, 'v.1', id);
  };
  expect(await ask({ journeyId: 'v.1' }, { ...context, replicated })).toEqual({ do: 'done' });
  expect(service.standin.requests()).toHaveLength(1);
});

test('an attempt to ask that waits for no replica goes by the answer that its intent is saved', async () => {
  const { context, store, vendor } = unitContext();
  vendor.close('w', anyone);
  await plan(eventOf('w'), context);
  const asksAgain = overriding(store, { isCurrent: () => Promise.reject(new Error('asked again')) });
  const replicated = () => undefined;
  expect(await ask({ journeyId: 'w.1' }, { ...context, store: asksAgain, replicated })).toEqual({ do: 'done' });
  expect(await store.get('w.1')).toMatchObject({ state: 'asked' });
});

test('a journey that may have asked when its job is given up needs a person; one that surely has not, has failed', async () => {
  const { context, store, vendor } = unitContext();
  for (const id of ['m', 'n']) {
    vendor.close(id, anyone);
    await plan(eventOf(id), context);
  }
  await goesAhead(context, 'm.1');
  for (const journeyId of ['m.1', 'n.1']) await giveUpAsk({ journeyId }, 'toy: no', context);
  expect(await store.get('m.1')).toMatchObject({ state: 'parked', why: expect.stringMatching(/not known.*toy: no/) });
  expect(await store.get('n.1')).toMatchObject({ state: 'failed', why: 'toy: no' });
});

describe('two records of one person, due at the same moment', () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, throttle: 30d }';

  test('they ask one after the other, so that the throttle holds', async () => {
    const { context, store, vendor } = unitContext({ rule });
    for (const id of ['a', 'b']) {
      vendor.close(id, anyone);
      await plan(eventOf(id), context);
    }
    const contacts = overriding(context.contacts, {
      lastAsked: async (key: string) => {
        const last = await context.contacts.lastAsked(key);
        await ask({ journeyId: 'b.1' }, context);
        return last;
      },
    });
    await ask({ journeyId: 'a.1' }, { ...context, contacts });
    expect(service.standin.requests()).toHaveLength(1);
    expect(await store.get('b.1')).toMatchObject({ state: 'waiting' });
    await ask({ journeyId: 'b.1' }, context);
    expect(await store.get('b.1')).toMatchObject({ state: 'skipped', why: expect.stringMatching(/throttle/) });
  });

  test('the other waits until the first has surely sent: its lock does not end during a call', async () => {
    const { context, vendor } = unitContext({ rule });
    vendor.close('a', anyone);
    await plan(eventOf('a'), context);
    let left = 0;
    const create: SourceContext['feedback']['create'] = async (request) => {
      const { client } = redis.handle;
      for (const key of await client.keys('{cl}:person:*:lock')) left = await client.pttl(key);
      return await context.feedback.create(request);
    };
    await ask({ journeyId: 'a.1' }, { ...context, feedback: { ...context.feedback, create } });
    expect(left).toBeGreaterThan(context.callMs);
    expect(await redis.handle.client.keys('{cl}:person:*:lock')).toEqual([]);
  });
});

test('a record that waits does not ask when one that has asked is merged into it meanwhile', async () => {
  const unit = unitContext();
  const { context, store, vendor } = unit;
  vendor.close('w', { customer: { email: 'otto@example.com' } });
  await plan(eventOf('w'), context);
  await asking(unit, 'm');
  await plan(eventOf('m', { kind: 'changed', mergedInto: 'w' }), context);
  await ask({ journeyId: 'w.1' }, context);
  expect(await store.get('w.1')).toMatchObject({ state: 'skipped', why: expect.stringMatching(/asked already/) });
  expect(service.standin.requests()).toHaveLength(1);
});

test('a record that was asked about is not even planned when it is closed again', async () => {
  const unit = unitContext({ rule: '{ name: all, campaign: 12, contact: customer.email, delay: 50ms }' });
  const { context, store, vendor } = unit;
  vendor.close('w', { ...anyone, ...closedAs('one', new Date(Date.now() - hour)) });
  await plan(eventOf('w'), context);
  await ask({ journeyId: 'w.1' }, context);
  expect(await store.get('w.1')).toMatchObject({ state: 'asked' });
  vendor.close('w', { ...anyone, ...closedAs('two') });
  await plan(eventOf('w'), context);
  expect(await store.get('w.2')).toMatchObject({ state: 'skipped', why: expect.stringMatching(/asked already/) });
});

test('a record that was reopened and closed again unseen asks about the newer closing, once', async () => {
  const {
    context,
    store,
    vendor,
    events: queued,
  } = unitContext({
    rule: '{ name: all, campaign: 12, contact: customer.email, again: each closing }',
  });
  vendor.close('u', { ...anyone, ...closedAs('one') });
  await plan(eventOf('u'), context);
  vendor.close('u', { ...anyone, ...closedAs('two') });
  await ask({ journeyId: 'u.1' }, context);
  expect(await store.get('u.1')).toMatchObject({ state: 'cancelled' });
  expect(service.standin.requests()).toEqual([]);
  for (const event of await queued()) {
    await plan({ ...eventOf('u'), ...event, at: new Date(event.at), receivedAt: new Date() }, context);
  }
  await ask({ journeyId: 'u.2' }, context);
  expect(await store.get('u.2')).toMatchObject({ state: 'asked', closing: 'two' });
  expect(service.standin.requests()).toHaveLength(1);
});

test('a journey whose job comes before its time waits, without a call to anybody', async () => {
  const { context, store, vendor } = unitContext({
    rule: '{ name: all, campaign: 12, contact: customer.email, delay: 3h }',
  });
  vendor.close('e', anyone);
  await plan(eventOf('e'), context);
  const before = [vendor.calls.length, service.standin.requests().length];
  const result = await ask({ journeyId: 'e.1' }, context);
  expect(result.do === 'wait' ? result.delayMs : 0).toBeGreaterThan(2 * hour);
  expect([vendor.calls.length, service.standin.requests().length]).toEqual(before);
  expect(await store.get('e.1')).toMatchObject({ state: 'waiting' });
});

test('a send window that closes while a place among the calls is waited for is kept to', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, window: { from: "09:00", until: "20:00" } }';
  const { context, store, vendor } = unitContext({ rule });
  let now = new Date('2026-11-23T19:59:30+02:00');
  const clock = { ...liveClock, now: () => now };
  vendor.close('w', { ...anyone, ...closedAs('one', now) });
  await plan(eventOf('w'), { ...context, clock });
  const limited: SourceContext['limited'] = async (call) => {
    now = new Date('2026-11-23T20:00:30+02:00');
    return await call();
  };
  expect(await ask({ journeyId: 'w.1' }, { ...context, clock, limited })).toEqual({ do: 'wait', delayMs: 0 });
  expect(await ask({ journeyId: 'w.1' }, { ...context, clock })).toMatchObject({ do: 'wait' });
  expect(service.standin.requests()).toEqual([]);
  const morning = new Date('2026-11-24T09:00:00+02:00');
  expect(await store.get('w.1')).toMatchObject({ state: 'waiting', dueAt: morning });
});
