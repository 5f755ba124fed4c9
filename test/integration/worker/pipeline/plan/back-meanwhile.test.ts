import { expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { anyone, closedAs, eventOf, useManual } from '../../../../support/manual.ts';

/** A record is back, while the reading that found it deleted is still to be saved. */

const world = useManual();

test('a record that was deleted and is back asks, though the reading of the deletion is saved last', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
  const here = world.unitContext({ rule });
  const { context, store, vendor } = here;
  vendor.close('a', { ...anyone, ...closedAs('one') });
  await plan(eventOf('a'), context);
  const record = vendor.records.get('a') ?? expect.fail('none');
  vendor.records.delete('a');
  let isOver = false;
  const read: typeof context.read = async (...about) => {
    const status = await context.read(...about);
    if (isOver) return status;
    isOver = true;
    vendor.records.set('a', record);
    await plan(eventOf('a', { what: 'restored' }), context);
    return status;
  };
  await plan(eventOf('a', { kind: 'changed', what: 'deleted' }), { ...context, read });
  for (const event of await here.events()) await plan(event, context);
  expect((await store.get('a.1'))?.state).toBe('waiting');
});

test('a record that is back before it is found deleted by asking asks', async () => {
  const { context, store, vendor, events } = world.unitContext();
  vendor.close('a', { ...anyone, ...closedAs('one') });
  await plan(eventOf('a'), context);
  const record = vendor.records.get('a') ?? expect.fail('none');
  vendor.records.delete('a');
  let isOver = false;
  const read: typeof context.read = async (...about) => {
    const status = await context.read(...about);
    if (isOver) return status;
    isOver = true;
    vendor.records.set('a', record);
    await plan(eventOf('a', { what: 'restored' }), context);
    return status;
  };
  await ask({ journeyId: 'a.1' }, { ...context, read });
  for (const event of await events()) await plan(event, context);
  expect((await store.get('a.1'))?.state).toBe('waiting');
});
