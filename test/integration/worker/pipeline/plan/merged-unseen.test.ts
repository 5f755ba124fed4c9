import { describe, expect, test } from 'vitest';
import type { RecordJob } from '../../../../../worker/pipeline/jobs.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { anyone, eventOf, useManual } from '../../../../support/manual.ts';

const { unitContext } = useManual();

/** `a` waits to be asked about, and is `b` from now on, which is closed. */
async function merging() {
  const unit = unitContext({ rule: '{ name: all, campaign: 12, contact: customer.email, delay: 1h }' });
  const { vendor, context } = unit;
  vendor.close('a', anyone);
  await plan(eventOf('a'), context);
  vendor.close('b', anyone);
  vendor.close('a', { ...anyone, currentId: 'b' });
  return unit;
}

describe('a record that waits to be asked about, and was merged into a closed one of which nothing is told', () => {
  const rows: [how: string, event: Partial<RecordJob>][] = [
    ['a change of it that is told', { kind: 'changed' }],
    ['the merge, told as its end only', { kind: 'changed', mergedInto: 'b' }],
    ['a poll that finds it closed before its time', { via: 'poll', notBefore: new Date('2100-01-01') }],
  ];
  test.each(rows)('it leaves its question to that one, found by %s', async (_, event) => {
    const { context, store, events } = await merging();
    expect(await plan(eventOf('a', event), context)).toEqual({ do: 'done' });
    expect(await store.get('a.1')).toMatchObject({ state: 'cancelled', why: expect.stringContaining('into b') });
    for (const queued of await events()) await plan(queued, context);
    expect(await store.get('b.1')).toMatchObject({ state: 'waiting' });
  });

  test('it does so though the process ends between the two', async () => {
    const { context, store, events } = await merging();
    const changed = eventOf('a', { kind: 'changed' });
    const dying = { ...context, queueEvent: async () => Promise.reject(new Error('killed')) };
    await expect(plan(changed, dying)).rejects.toThrow('killed');
    expect(await plan(changed, context)).toEqual({ do: 'done' });
    for (const queued of await events()) await plan(queued, context);
    expect(await store.get('b.1')).toMatchObject({ state: 'waiting' });
  });
});
