import { describe, expect, test } from 'vitest';
import { step } from '../../../../worker/journey/transitions.ts';
import { ask } from '../../../../worker/pipeline/ask/ask.ts';
import type { ExternalGradeJob } from '../../../../worker/pipeline/jobs.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { anyone, closedAs, eventOf, open, type UnitContext, useManual } from '../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;
const stateOf = async ({ store }: UnitContext, id: string) => (await store.get(id))?.state;
/** As "journeys replay" does. */
const replay = async ({ context, store }: UnitContext, id: string) => {
  await store.update(id, (now) => ({ journey: step(now, 'received', new Date()), trace: [] }));
  await plan(eventOf(id.slice(0, id.lastIndexOf('.')), { key: `replay:${id}` }), context);
};
async function runEvents({ pipeline }: UnitContext): Promise<void> {
  for (const job of await pipeline.jobs.plan.queue.getJobs()) {
    await pipeline.stages.plan.run(job.data);
    await job.remove();
  }
}

describe('a skipped journey that is taken up again', () => {
  async function skippedTwice(): Promise<UnitContext> {
    const unit = unitContext();
    for (const closing of ['one', 'two']) {
      unit.vendor.close('s', { customer: {}, ...closedAs(closing) });
      await plan(eventOf('s'), unit.context);
    }
    return unit;
  }

  test('it comes to an end where a later closing of its record has asked', async () => {
    const unit = await skippedTwice();
    unit.vendor.close('s', { ...anyone, ...closedAs('three') });
    await plan(eventOf('s'), unit.context);
    await ask({ journeyId: 's.3' }, unit.context);
    await replay(unit, 's.1');
    expect([await stateOf(unit, 's.1'), await stateOf(unit, 's.3')]).toEqual(['cancelled', 'asked']);
  });

  test('it comes to an end where its record is open, though a later closing was skipped too', async () => {
    const unit = await skippedTwice();
    unit.vendor.close('s', open);
    await replay(unit, 's.1');
    expect(await stateOf(unit, 's.1')).toBe('cancelled');
  });
});

describe('a failed journey that is taken up again', () => {
  const at = new Date();
  const graded: ExternalGradeJob = {
    kind: 'external-grade',
    recordId: 'g',
    grade: 4,
    comment: 'Fine',
    at,
    key: 'graded',
    what: 'graded',
    receivedAt: at,
  };

  test('it passes on the grade that was given elsewhere meanwhile', async () => {
    const unit = unitContext({ rule: '{ name: all, campaign: 15, contact: ticket.id }' });
    const { context, vendor, store } = unit;
    vendor.close('g');
    await plan(eventOf('g'), context);
    const why = 'the service was away for a day';
    await store.update('g.1', (now) => ({ journey: step(now, 'failed', new Date(), { why }), trace: [] }));
    expect(await plan(graded, context)).toEqual({ do: 'done' });
    await replay(unit, 'g.1');
    await ask({ journeyId: 'g.1' }, context);
    const [event] = await unit.events();
    // What waits in the queue names nobody.
    expect(event).toMatchObject({ kind: 'external-grade', grade: null, comment: null });
    await runEvents(unit);
    expect(service.standin.requests()).toMatchObject([{ grade: 4, comment: 'Fine' }]);
    expect((await store.get('g.1'))?.given).toMatchObject({ grade: 4, delivered: true });
  });
});
