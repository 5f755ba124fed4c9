import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { eventOf, overriding, useManual } from '../../../../support/manual.ts';

const world = useManual();

test('a journey that the service took leaves its slot to another before that is saved, and keeps its person till then', async () => {
  const { context, store, vendor } = world.unitContext();
  for (const id of ['a', 'b']) {
    vendor.close(id, { customer: { email: `${id}@example.com` } });
    await plan(eventOf(id), context);
  }
  const saving = Promise.withResolvers<void>();
  const happened: string[] = [];
  const limit = pLimit(1);
  const waiting: typeof store.update = async (of, ...rest) => {
    if (typeof of !== 'string' && of.id === 'a.1' && of.state === 'creating') await saving.promise;
    return await store.update(of, ...rest);
  };
  const release: typeof context.contacts.release = async (...args) => {
    happened.push('released');
    await context.contacts.release(...args);
  };
  const one = { ...context, limited: limit };
  const slow = {
    ...one,
    store: overriding(store, { update: waiting }),
    contacts: overriding(context.contacts, { release }),
  };
  const first = ask({ journeyId: 'a.1' }, slow);
  await ask({ journeyId: 'b.1' }, one);
  expect(await store.get('b.1')).toMatchObject({ state: 'asked' });
  expect(await store.get('a.1')).toMatchObject({ state: 'creating' });
  expect(happened).toEqual([]);
  saving.resolve();
  await first;
  expect(await store.get('a.1')).toMatchObject({ state: 'asked' });
  expect(happened).toEqual(['released']);
});

test('what fails after the service took a request takes nothing back: the request is looked for', async () => {
  const { context, store, vendor } = world.unitContext();
  vendor.close('a', { customer: { email: 'a@example.com' } });
  await plan(eventOf('a'), context);
  const askedIn = () => Promise.reject(new Error('toy: not noted'));
  await expect(ask({ journeyId: 'a.1' }, { ...context, askedIn })).rejects.toThrow('toy: not noted');
  expect(world.standin.requests()).toHaveLength(1);
  expect(await store.get('a.1')).toMatchObject({ state: 'creating' });
  await ask({ journeyId: 'a.1' }, context);
  expect(world.standin.requests()).toHaveLength(1);
});
