import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../../core/errors.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import {
  anyone,
  asking,
  closedAs,
  eventOf,
  later,
  open,
  overriding,
  slowCampaign,
  useManual,
} from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;
const statuses = () => service.standin.requests().map(({ status }) => status);
const stateOf = async ({ store }: Pick<SourceContext, 'store'>, id: string) => (await store.get(id))?.state;

describe('a request that has not been sent when its record is reopened', () => {
  /** Its worker is killed while it takes the request back. */
  async function killed(cancel: (id: string, context: SourceContext) => Promise<void>) {
    slowCampaign(service.standin);
    const unit = unitContext(later);
    const { context, vendor } = unit;
    await asking(unit, 'k');
    vendor.close('k', open);
    const reopened = eventOf('k', { kind: 'changed' });
    const dying = (id: string) => cancel(id, context).then(() => Promise.reject(new Error('killed')));
    const feedback = overriding(context.feedback, { cancel: dying });
    await expect(plan(reopened, { ...context, feedback })).rejects.toThrow('killed');
    return { context, vendor, reopened };
  }
  const kills: [when: string, cancel: (id: string, context: SourceContext) => Promise<void>][] = [
    ['before the service heard of it', async () => undefined],
    ['when the service had just done it', async (id, { feedback }) => await feedback.cancel(id)],
  ];

  test.each(kills)(
    'it is taken back by whoever comes next, and the new closing asks (killed %s)',
    async (_, cancel) => {
      const { context, vendor, reopened } = await killed(cancel);
      vendor.close('k', { ...anyone, ...closedAs('again') });
      await plan(reopened, context);
      expect(await stateOf(context, 'k.1')).toBe('cancelled');
      await plan(eventOf('k'), context);
      await ask({ journeyId: 'k.2' }, context);
      expect([await stateOf(context, 'k.2'), statuses().toSorted()]).toEqual(['asked', ['Cancelled', 'Scheduled']]);
    },
  );

  test.each(kills)('the new closing does not wait for that event to come again (killed %s)', async (_, cancel) => {
    const { context, vendor } = await killed(cancel);
    vendor.close('k', { ...anyone, ...closedAs('again') });
    await plan(eventOf('k'), context);
    await ask({ journeyId: 'k.2' }, context);
    expect([await stateOf(context, 'k.1'), await stateOf(context, 'k.2')]).toEqual(['cancelled', 'asked']);
  });

  test('closings are planned all the same where the service refuses for good to take it back', async () => {
    const { context, vendor } = await killed(async () => undefined);
    const refused = new CloseloopError('405', { kind: 'permanent' });
    const feedback = overriding(context.feedback, { cancel: () => Promise.reject(refused) });
    vendor.close('k', { ...anyone, ...closedAs('again') });
    expect(await plan(eventOf('k'), { ...context, feedback })).toEqual({ do: 'done' });
    expect([await stateOf(context, 'k.1'), await stateOf(context, 'k.2')]).toEqual(['asked', 'skipped']);
  });

  test('one that was sent is not tried again with every event', async () => {
    const unit = unitContext();
    const { context, vendor, store } = unit;
    await asking(unit, 's');
    vendor.close('s', open);
    await plan(eventOf('s', { kind: 'changed' }), context);
    const after = await store.get('s.1');
    expect([after?.state, after?.withdrawing]).toEqual(['asked', undefined]);
  });

  test('it is taken back also where a later closing of its record was skipped', async () => {
    slowCampaign(service.standin);
    const unit = unitContext(later);
    const { context, vendor } = unit;
    await asking(unit, 'r');
    vendor.close('r', { ...anyone, ...closedAs('two') });
    await plan(eventOf('r', { kind: 'changed' }), context);
    await plan(eventOf('r'), context);
    expect(await stateOf(context, 'r.2')).toBe('skipped');
    vendor.close('r', open);
    await plan(eventOf('r', { kind: 'changed' }), context);
    expect([await stateOf(context, 'r.1'), statuses()]).toEqual(['cancelled', ['Cancelled']]);
  });
});
