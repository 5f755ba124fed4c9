import { expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { anyone, closedAs, eventOf, useManual } from '../../../../support/manual.ts';

/** A record is back, while the reading that found it deleted is still to be saved. */

const world = useManual();

/** A journey that waits, whose record is deleted; the next reading finds that, and before it returns the record is back, and is planned. */
async function goneAndBack(rule?: string) {
  const unit = world.unitContext(rule === undefined ? {} : { rule });
  const { context, vendor } = unit;
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
  return { ...unit, late: { ...context, read } };
}

test('a record that was deleted and is back asks, though the reading of the deletion is saved last', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
  const { context, store, events, late } = await goneAndBack(rule);
  await plan(eventOf('a', { kind: 'changed', what: 'deleted' }), late);
  for (const event of await events()) await plan(event, context);
  expect((await store.get('a.1'))?.state).toBe('waiting');
});

test('a record that is back before it is found deleted by asking asks', async () => {
  const { context, store, events, late } = await goneAndBack();
  await ask({ journeyId: 'a.1' }, late);
  for (const event of await events()) await plan(event, context);
  expect((await store.get('a.1'))?.state).toBe('waiting');
});
