import { expect, test } from 'vitest';
import { CloseloopError } from '../../../../../core/errors.ts';
import { giveUpAsk } from '../../../../../worker/pipeline/ask/ask.ts';
import { giveUpPlan } from '../../../../../worker/pipeline/plan/not-closed.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { replay } from '../../../../../worker/support/repair.ts';
import { anyone, eventOf, useManual } from '../../../../support/manual.ts';

const world = useManual();

test('a replay that fails before its record can be read leaves no journey in received', async () => {
  const { context, store, vendor, events } = world.unitContext();
  vendor.close('a', anyone);
  await plan(eventOf('a'), context);
  await giveUpAsk({ journeyId: 'a.1' }, 'for a test', context);
  const failed = (await store.get('a.1')) ?? expect.fail('no');
  expect(failed.state).toBe('failed');
  await replay(failed, context);
  vendor.failures.read.push(new CloseloopError('the vendor refuses this record', { kind: 'permanent' }));
  for (const event of (await events()).filter(({ key }) => key.startsWith('replay'))) {
    await expect(plan(event, context)).rejects.toThrow('refuses');
    await giveUpPlan(event, 'the vendor refuses this record', context);
  }
  expect((await store.get('a.1'))?.state).toBe('failed');
});
