import { expect, test } from 'vitest';
import { contactKey } from '../../../../../core/contact.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import type { Reservation } from '../../../../../worker/journey/contacts.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { anyone, eventOf, hour, later, open, overriding, slowCampaign, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;

/** Those of `Soon` are asked at once, not more often than once a month; others an hour later, however often. */
const rule = `{ name: soon, when: 'ticket.store = "Soon"', campaign: 12, contact: customer.email, throttle: 30d },
  { name: all, campaign: 112, contact: customer.email }`;
const soon = { ...anyone, store: 'Soon' };

function unit() {
  slowCampaign(service.standin);
  const { context, vendor } = unitContext({ rule, operations: later.operations });
  const state = async (id: string) => (await context.store.get(id)) ?? expect.fail(`no ${id}`);
  const asks = async (id: string, more: object, by = context) => {
    vendor.close(id, more);
    await plan(eventOf(id), by);
    await ask({ journeyId: `${id}.1` }, by);
    return await state(`${id}.1`);
  };
  const reopens = async (id: string) => {
    vendor.close(id, open);
    await plan(eventOf(id, { kind: 'changed' }), context);
    return await state(`${id}.1`);
  };
  return { context, asks, reopens };
}
const throttled = { state: 'skipped', reason: 'throttled', why: expect.stringMatching(/throttle/) };

test('a person who was asked is not asked again because a later request to them was withdrawn', async () => {
  const { asks, reopens } = unit();
  expect(await asks('b', soon)).toMatchObject({ state: 'asked' });
  expect(await asks('a', anyone)).toMatchObject({ state: 'asked' });
  expect(await reopens('a')).toMatchObject({ state: 'cancelled' });
  expect(await asks('c', soon)).toMatchObject(throttled);
});

test('… nor because two were', async () => {
  const { asks, reopens } = unit();
  await asks('b', soon);
  for (const id of ['a', 'd']) {
    await asks(id, anyone);
    expect(await reopens(id)).toMatchObject({ state: 'cancelled' });
  }
  expect(await asks('c', soon)).toMatchObject(throttled);
});

test('… nor where somebody else had asked them, past closeloop', async () => {
  const { context, asks, reopens } = unit();
  const contact = { kind: 'email', value: anyone.customer.email } as const;
  service.standin.moveClock({ now: new Date(Date.now() - 24 * hour) });
  await context.feedback.create({ campaign: 12, contact, customFields: {} });
  service.standin.moveClock({ now: new Date() });
  expect(await asks('a', anyone)).toMatchObject({ state: 'asked' });
  expect(await reopens('a')).toMatchObject({ state: 'cancelled' });
  expect(await asks('c', soon)).toMatchObject(throttled);
});

test('a person who was asked is not asked again because a worker that stood still finds their record open (audit twice)', async () => {
  slowCampaign(service.standin);
  const { context, store, vendor } = unitContext(later);
  vendor.close('s', anyone);
  await plan(eventOf('s'), context);
  const late: SourceContext = {
    ...context,
    read: async (id, purpose) => {
      await ask({ journeyId: 's.1' }, context);
      vendor.close(id, open);
      return await context.read(id, purpose);
    },
  };
  await ask({ journeyId: 's.1' }, late);
  expect(await store.get('s.1')).toMatchObject({ state: 'asked' });
  expect(await context.contacts.lastAsked(contactKey({ kind: 'email', value: anyone.customer.email }))).toMatchObject({
    journey: 'calm/s.1',
  });
});

test('… nor because one that stood still, and has sent nothing, takes back its own note (audit twice)', async () => {
  const { context, vendor } = unitContext();
  vendor.close('s', anyone);
  await plan(eventOf('s'), context);
  const others = { at: new Date(), journey: 'calm/o.1' };
  const replicated = async () => {
    // Its lock has ended meanwhile.
    await context.contacts.setLastAsked(contactKey({ kind: 'email', value: anyone.customer.email }), others);
    throw new CloseloopError('toy: no replica', { kind: 'transient' }, { outcome: 'never-sent' });
  };
  await expect(ask({ journeyId: 's.1' }, { ...context, replicated })).rejects.toThrow('no replica');
  expect(await context.contacts.lastAsked(contactKey({ kind: 'email', value: anyone.customer.email }))).toEqual(others);
});

test('a person whose requests were all withdrawn, the earlier one first, is asked', async () => {
  const { asks, reopens } = unit();
  for (const id of ['a', 'd']) expect(await asks(id, anyone)).toMatchObject({ state: 'asked' });
  for (const id of ['a', 'd']) expect(await reopens(id)).toMatchObject({ state: 'cancelled' });
  expect(await asks('c', soon)).toMatchObject({ state: 'asked' });
});

test('a person who was asked is not asked again because an attempt after it came to nothing', async () => {
  const { context, asks, reopens } = unit();
  await asks('b', soon);
  const contacts = overriding(context.contacts, {
    reserve: async (request: Reservation) => {
      await context.contacts.reserve(request);
      throw new Error('killed');
    },
  });
  const dying: SourceContext = { ...context, contacts };
  await expect(asks('a', anyone, dying)).rejects.toThrow('killed');
  expect(await reopens('a')).toMatchObject({ state: 'cancelled' });
  const note = await context.contacts.lastAsked('erika@example.com');
  expect(note).toMatchObject({ journey: 'calm/b.1' });
});
