import { describe, expect, test } from 'vitest';
import type { EraseEvent } from '../../../../../core/connector/events.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { poll } from '../../../../../worker/pipeline/plan/poll.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { beginMasking } from '../../../../../worker/support/people.ts';
import {
  eventOf,
  gradedElsewhere,
  jobsOf,
  overriding,
  type UnitContext,
  useManual,
} from '../../../../support/manual.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';
import { ago, email, isErased, sentTo, waysToErase } from '../../../../support/worker/erasing.ts';

const service = useManual();
const { redis, unitContext } = service;
const erika = { customer: { email }, personId: 'p-7' };

/** A source with a closing of Erika, planned and due. */
async function waiting(unit = unitContext({ others: ['second'] })): Promise<UnitContext> {
  unit.vendor.close('x', erika);
  await plan(eventOf('x', { receivedAt: ago(1_000) }), unit.context);
  expect(await unit.store.get('x.1')).toMatchObject({ state: 'waiting' });
  return unit;
}

const request = (who: Partial<EraseEvent>): EraseEvent => ({
  kind: 'erase',
  at: new Date(),
  key: 'erase',
  what: 'toy erase',
  ...who,
});

/** The vendor asks, and is answered 2xx. Nobody works on the erasure: its worker was killed, the service is away, … */
async function accepted(
  { engine }: UnitContext,
  who: Partial<EraseEvent>,
  source = 'calm',
  at = new Date(),
): Promise<void> {
  await engine.openIngestion();
  await engine.ingestion.store(source, [request(who)], at);
}

/** The erasure that waited is done. */
async function eraseAll({ pipeline, context }: UnitContext): Promise<void> {
  for (const job of await jobsOf(pipeline.jobs.erase)) await erase(job, context);
}

describe('an erasure that was requested, and has not begun', () => {
  test.each(waysToErase)(
    'it keeps its person from being asked, and finds them when it begins (by %s)',
    async (_, who) => {
      const unit = await waiting();
      await accepted(unit, who);
      await ask({ journeyId: 'x.1' }, unit.context);
      expect(sentTo(service.standin)).toEqual([]);
      // The contact stays: by it the erasure finds what else there is of the person.
      expect(await unit.store.get('x.1')).toMatchObject({ state: 'cancelled', contact: { value: email } });
      await eraseAll(unit);
      expect(await isErased(unit.context, 'x.1')).toBe(true);
      expect(await unit.context.erasures.all()).toMatchObject([{ contacts: 1, journeys: 1 }]);
    },
  );

  test('it comes while the service tells of the contact, and nothing is sent of a journey that waited', async () => {
    const unit = await waiting();
    const { context } = unit;
    const contact: SourceContext['feedback']['contact'] = async (...args) => {
      const known = await context.feedback.contact(...args);
      await accepted(unit, { contacts: [email] });
      return known;
    };
    await ask({ journeyId: 'x.1' }, { ...context, feedback: overriding(context.feedback, { contact }) });
    expect(sentTo(service.standin)).toEqual([]);
    expect(await unit.store.get('x.1')).toMatchObject({ state: 'cancelled', contact: { value: email } });
    await eraseAll(unit);
    expect(await isErased(unit.context, 'x.1')).toBe(true);
  });

  test('it keeps them from being asked in every source that knows the contact', async () => {
    const unit = await waiting();
    await accepted(unit, { contacts: [email] }, 'second');
    await ask({ journeyId: 'x.1' }, unit.context);
    expect(sentTo(service.standin)).toEqual([]);
  });

  test('it keeps their answer from being written, and a grade that was given elsewhere from being passed on', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 15, contact: ticket.id }' });
    const { context, store, vendor } = unit;
    vendor.close('x', { personId: 'p-7' });
    await plan(eventOf('x', { receivedAt: ago(1_000) }), context);
    await ask({ journeyId: 'x.1' }, context);
    const answer = { grade: 5, comment: 'It was me, Erika', seenAt: new Date(), version: 1 };
    await store.update('x.1', (now) => ({ journey: step(now, 'answered', new Date(), { answer }), trace: [] }));
    await accepted(unit, { personIds: ['p-7'] });
    await writeBack({ journeyId: 'x.1' }, context);
    await plan({ ...gradedElsewhere('x', Date.now(), 1), comment: 'Erika again' }, context);
    expect(vendor.written).toEqual([]);
    expect(service.standin.requests()).toMatchObject([{ grade: null, comment: null }]);
    await eraseAll(unit);
    expect(await isErased(context, 'x.1')).toBe(true);
    expect(await store.get('x.1')).not.toHaveProperty('given');
  });

  test('it keeps them from being asked again after an attempt that reached nobody', async () => {
    const unit = await waiting();
    const lost: SourceContext = {
      ...unit.context,
      feedback: overriding(unit.context.feedback, {
        create: () => Promise.reject(new CloseloopError('cut', { kind: 'transient' }, { outcome: 'unknown' })),
      }),
    };
    await ask({ journeyId: 'x.1' }, lost);
    expect(await unit.store.get('x.1')).toMatchObject({ state: 'creating' });
    await accepted(unit, { personIds: ['p-7'] });
    while ((await unit.store.get('x.1'))?.state === 'creating') await ask({ journeyId: 'x.1' }, unit.context);
    await ask({ journeyId: 'x.1' }, unit.context);
    expect(sentTo(service.standin)).toEqual([]);
    expect(await unit.store.get('x.1')).toMatchObject({ state: 'cancelled' });
  });

  test('it is noted before it is stored: what is stored is accepted, and from then on nobody is asked', async () => {
    const unit = await waiting();
    await unit.engine.openIngestion();
    const { client } = redis.handle;
    // No job can be added.
    await client.set('{cl:calm}:erase:id', 'no number');
    await expect(unit.engine.ingestion.store('calm', [request({ personIds: ['p-7'] })], new Date())).rejects.toThrow();
    await ask({ journeyId: 'x.1' }, unit.context);
    expect(sentTo(service.standin)).toEqual([]);
  });

  test('it asks about other people, and about what comes in later', async () => {
    const unit = await waiting();
    await accepted(unit, { personIds: ['p-8'], contacts: ['other@example.com'], recordIds: ['y'] });
    await ask({ journeyId: 'x.1' }, unit.context);
    // Not within the millisecond in which the next record is closed.
    await accepted(unit, { personIds: ['p-7'], key: 'another' }, 'calm', ago(1_000));
    unit.vendor.close('z', erika);
    await plan(eventOf('z', { receivedAt: new Date(Date.now() + 1_000) }), unit.context);
    await ask({ journeyId: 'z.1' }, unit.context);
    expect(sentTo(service.standin)).toEqual([email, email]);
  });

  test('it came with a poll', async () => {
    const vendor = new ToyVendor();
    vendor.pages = async () => ({
      events: [request({ personIds: ['p-7'] })],
      cursor: 'end',
      done: true,
      reached: new Date(),
    });
    const unit = await waiting(unitContext({ vendor }));
    await redis.handle.client.hset('{cl:calm}:poll', 'since', ago(1_000).getTime());
    const { context, pipeline } = unit;
    const { pauses, jobs } = pipeline;
    await poll(context, { redis: redis.handle.client, pauses, everyMs: 0, headStartMs: 0, jobs });
    expect(await jobsOf(jobs.erase)).toHaveLength(1);
    await ask({ journeyId: 'x.1' }, context);
    expect(sentTo(service.standin)).toEqual([]);
  });

  test('it was asked for on the page of people', async () => {
    const unit = await waiting();
    await beginMasking(email, 'asked for on the page', unit.context);
    await ask({ journeyId: 'x.1' }, unit.context);
    expect(sentTo(service.standin)).toEqual([]);
  });

  test('its source gets another name before it begins', async () => {
    const old = await waiting(unitContext({ source: 'old' }));
    await accepted(old, { personIds: ['p-7'] }, 'old');
    const now = unitContext({ source: 'new', storedAs: 'old', vendor: old.vendor });
    await ask({ journeyId: 'x.1' }, now.context);
    expect(sentTo(service.standin)).toEqual([]);
    for (const job of await jobsOf(now.pipeline.jobs.erase)) await erase(job, now.context);
    expect((await now.store.get('x.1'))?.erasedAt).toBeDefined();
  });

  test('it names more people than a delivery may take time for', async () => {
    const unit = await waiting();
    const contacts = Array.from({ length: 3_000 }, (_, i) => `a${i}@example.com`);
    await accepted(unit, { personIds: ['p-7'], contacts });
    // By the contact, and by its address.
    expect(await redis.handle.client.zcard('{cl:calm}:erasures:forgotten')).toBeLessThanOrEqual(2_000);
    await ask({ journeyId: 'x.1' }, unit.context);
    expect(sentTo(service.standin)).toEqual([]);
  });
});
