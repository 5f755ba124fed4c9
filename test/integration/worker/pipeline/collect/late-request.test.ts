import { expect, test } from 'vitest';
import { markAsked } from '../../../../../worker/pipeline/ask/ask-steps.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { asking, eventOf, goesAhead, hour, overriding, passOf, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { redis, unitContext } = service;

test('a request that is found late while a pass is under way has its answer read by the next pass', async () => {
  const calm = unitContext();
  const { context, store, vendor } = calm;
  await asking(calm, 'a');
  // The customer of "b" was asked by a worker that was killed: its request is known to nobody for now, and answered.
  vendor.close('b', { customer: { email: 'b@example.com' } });
  await plan(eventOf('b'), context);
  await goesAhead(context, 'b.1');
  const { id } = await context.feedback.create({
    campaign: 12,
    contact: { kind: 'email', value: 'b@example.com' },
    customFields: {},
  });
  // Eleven minutes after: the request is not young any more.
  const clock = { ...context.clock, now: () => new Date(Date.now() + 660_000) };
  const pass = (source = context) => passOf(redis.handle.client, source, { clock, fullEveryMs: 24 * hour });
  await pass();
  service.standin.answer({ contact: 'b@example.com', grade: 3 });
  let isNoted = false;
  await pass({
    ...context,
    store: overriding(store, {
      requests: overriding(store.requests, {
        journeyIdsOf: async (ids) => {
          const found = await store.requests.journeyIdsOf(ids);
          if (!isNoted) {
            isNoted = true;
            const journey = (await store.get('b.1')) ?? expect.fail('no journey');
            await markAsked(journey, id, 'found by the search', context, { late: true });
          }
          return found;
        },
      }),
    }),
  });
  expect(isNoted).toBe(true);
  expect(await store.get('b.1')).toMatchObject({ state: 'asked', requestId: id });
  await pass();
  expect(await store.get('b.1')).toMatchObject({ state: 'answered', answer: { grade: 3 } });
});

test('the grade of a request whose contact was masked at the service since is taken', async () => {
  const calm = unitContext();
  const { context, store } = calm;
  await asking(calm, 'a');
  service.standin.answer({ contact: 'erika@example.com', grade: 3 });
  // Somebody masks the contact in the service's web app, or by another program: grades are kept (specification, 4.3).
  await context.feedback.mask({ kind: 'email', value: 'erika@example.com' });
  await calm.engine.collecting.stage.run({ campaign: 12 });
  expect(await store.get('a.1')).toMatchObject({ state: 'answered', answer: { grade: 3 } });
});
