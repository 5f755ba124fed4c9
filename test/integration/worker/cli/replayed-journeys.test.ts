import { describe, expect, test } from 'vitest';
import { step } from '../../../../worker/journey/transitions.ts';
import { ask } from '../../../../worker/pipeline/ask/ask.ts';
import type { ExternalGradeJob } from '../../../../worker/pipeline/jobs.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { anyone, closedAs, eventOf, open, type Quiet, useQuiet } from '../../../support/by-hand.ts';

const service = useQuiet();
const { quiet } = service;
const stateOf = async ({ store }: Quiet, id: string) => (await store.get(id))?.state;
/** As "journeys replay" does. */
const replay = async ({ context, store }: Quiet, id: string) => {
  await store.update(id, (now) => ({ journey: step(now, 'received', new Date()), trace: [] }));
  await plan(eventOf(id.slice(0, id.lastIndexOf('.')), { key: `replay:${id}` }), context);
};
async function runEvents({ pipeline }: Quiet): Promise<void> {
  for (const job of await pipeline.jobs.plan.queue.getJobs()) {
    await pipeline.stages.plan.run(job.data);
    await job.remove();
  }
}

describe('a skipped journey that is taken up again', () => {
  async function skippedTwice(): Promise<Quiet> {
    const town = quiet();
    for (const closing of ['one', 'two']) {
      town.vendor.close('s', { customer: {}, ...closedAs(closing) });
      await plan(eventOf('s'), town.context);
    }
    return town;
  }

  test('it comes to an end where a later closing of its record has asked', async () => {
    const town = await skippedTwice();
    town.vendor.close('s', { ...anyone, ...closedAs('three') });
    await plan(eventOf('s'), town.context);
    await ask({ journeyId: 's.3' }, town.context);
    await replay(town, 's.1');
    expect([await stateOf(town, 's.1'), await stateOf(town, 's.3')]).toEqual(['cancelled', 'asked']);
  });

  test('it comes to an end where its record is open, though a later closing was skipped too', async () => {
    const town = await skippedTwice();
    town.vendor.close('s', open);
    await replay(town, 's.1');
    expect(await stateOf(town, 's.1')).toBe('cancelled');
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
    const town = quiet({ rule: '{ name: all, campaign: 15, contact: ticket.id }' });
    const { context, vendor, store } = town;
    vendor.close('g');
    await plan(eventOf('g'), context);
    const why = 'the service was away for a day';
    await store.update('g.1', (now) => ({ journey: step(now, 'failed', new Date(), { why }), trace: [] }));
    expect(await plan(graded, context)).toEqual({ do: 'done' });
    await replay(town, 'g.1');
    await ask({ journeyId: 'g.1' }, context);
    const [event] = await town.events();
    // What waits in the queue names nobody.
    expect(event).toMatchObject({ kind: 'external-grade', grade: null, comment: null });
    await runEvents(town);
    expect(service.standin.requests()).toMatchObject([{ grade: 4, comment: 'Fine' }]);
    expect((await store.get('g.1'))?.given).toMatchObject({ grade: 4, delivered: true });
  });
});
