import { describe, expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { attempt, begin, erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { eventOf, goesAhead, hasAsked, overriding, useManual } from '../../../../support/manual.ts';
import { ago, asked, email, eraseOf, isErased, sentTo as sentToBy } from '../../../../support/worker/erasing.ts';

const service = useManual();
const { redis, unitContext } = service;
const sentTo = () => sentToBy(service.standin);

describe('what is on its way while somebody is forgotten', () => {
  test('of two attempts at once the later one leaves nobody behind when its process is killed after the end (audit trace)', async () => {
    const unit = unitContext();
    const { context } = unit;
    await asked(unit, 'a', { email });
    const id = await begin(eraseOf({ contacts: [email] }), context);
    const dying: SourceContext = {
      ...context,
      feedback: overriding(context.feedback, {
        mask: async (contact) => {
          const result = await context.feedback.mask(contact);
          await attempt(id, context);
          return result;
        },
      }),
      contacts: overriding(context.contacts, { forgetAsked: () => Promise.reject(new Error('killed')) }),
    };
    await expect(attempt(id, dying)).rejects.toThrow('killed');
    expect([await context.erasures.open(), (await context.erasures.all()).length]).toEqual([[], 1]);
    expect(await redis.handle.client.keys('{cl:calm}:erasure:*')).toEqual([]);
  });

  test('the note of an earlier request does not come back (audit trace)', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 12, contact: customer.email, again: each closing }' });
    const { context, vendor } = unit;
    await asked(unit, 'z', { email });
    vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), context);
    let isErasing = false;
    const racing: SourceContext = {
      ...context,
      // The note was read with the contact's lock.
      feedback: overriding(context.feedback, {
        contact: async (contact) => {
          if (!isErasing) {
            isErasing = true;
            await erase(eraseOf({ contacts: [email] }), context);
          }
          return await context.feedback.contact(contact);
        },
      }),
    };
    await ask({ journeyId: 'a.1' }, racing);
    expect(isErasing).toBe(true);
    expect(await redis.handle.client.keys('{cl}:notes:*')).toEqual([]);
  });
});

describe('a journey that is asking', () => {
  test('it holds up only itself, and is erased when its outcome is known (audit 5)', async () => {
    const unit = unitContext();
    const { context, vendor } = unit;
    vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), context);
    await asked(unit, 'b', { email: 'b@example.com' });
    await goesAhead(context, 'a.1');
    const event = eraseOf({ everybody: true });
    await erase(event, context);
    expect(sentTo()).toEqual(['***']);
    expect(await isErased(context, 'b.1')).toBe(true);
    expect(await isErased(context, 'a.1')).toBe(false);
    expect(await context.erasures.all()).toEqual([]);

    const { id } = await context.feedback.create({
      campaign: 12,
      contact: { kind: 'email', value: email },
      customFields: {},
    });
    await hasAsked(context, 'a.1', id);
    await erase(event, context);
    expect(sentTo()).toEqual(['***', '***']);
    expect(await isErased(context, 'a.1')).toBe(true);
    expect(await context.erasures.all()).toMatchObject([{ journeys: 2, contacts: 2, requestsMasked: 2 }]);
  });

  const lost = async (searchAfter: Date) => {
    const unit = unitContext();
    const { context, vendor } = unit;
    vendor.close('a', { customer: { email } });
    await plan(eventOf('a', { receivedAt: ago(1_000) }), context);
    await goesAhead(context, 'a.1');
    await context.store.update('a.1', ({ intent, ...now }) => ({
      journey: { ...now, ...(intent && { intent: { ...intent, searchAfter } }) },
      trace: [],
    }));
    const contact = { kind: 'email', value: email } as const;
    await context.feedback.create({ campaign: 12, contact, customFields: {} });
    return context;
  };

  test('its request is masked after the search for it, which goes by the contact', async () => {
    const context = await lost(ago(1_000));
    const event = eraseOf({ contacts: [email] });
    await erase(event, context);
    expect(sentTo()).toEqual([email]);

    await ask({ journeyId: 'a.1' }, context);
    expect(await context.store.get('a.1')).toMatchObject({ state: 'asked' });
    await erase(event, context);
    expect(sentTo()).toEqual(['***']);
    expect(await isErased(context, 'a.1')).toBe(true);
    expect(await context.areOwned(service.standin.requests().map(({ id }) => String(id)))).toEqual([true]);
  });

  test('a search that can not be made keeps its contact unmasked for ten minutes at most', async () => {
    const context = await lost(ago(601_000));
    await erase(eraseOf({ contacts: [email] }), context);
    expect(sentTo()).toEqual(['***']);
  });
});

describe('a delivery that is stored while an erasure runs', () => {
  const snapshot = { state: 'closed', shape: { customer: { email } } };
  test('it leaves no snapshot behind, whether it is planned before the end or after it (audit 6)', async () => {
    const unit = unitContext();
    const { context } = unit;
    await asked(unit, 'a', { email });
    const during = eventOf('during', { snapshot });
    const late = eventOf('late', { snapshot });
    let calls = 0;
    const racing: SourceContext = {
      ...context,
      feedback: overriding(context.feedback, {
        mask: async (contact) => {
          if (calls++ === 0) {
            const now = { at: new Date(), receivedAt: new Date() };
            await unit.pipeline.jobs.plan.add([{ id: 'during', data: { ...during, ...now } }]);
            await plan({ ...eventOf('at-once', { snapshot }), ...now }, context);
            Object.assign(late, now);
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          return await context.feedback.mask(contact);
        },
      }),
    };
    racing.sources = async () => [racing];
    await erase(eraseOf({ contacts: [email] }), racing);
    await plan(late, context);
    for (const job of await unit.pipeline.jobs.plan.queue.getJobs()) await unit.pipeline.stages.plan.run(job.data);
    expect(await context.snapshots.of(['during', 'at-once', 'late'])).toEqual([undefined, undefined, undefined]);
    expect(service.standin.requests()).toHaveLength(1);
  });
});
