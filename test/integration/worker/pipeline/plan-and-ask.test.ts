import { beforeEach, describe, expect, test, vi } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { ask } from '../../../../worker/pipeline/ask/ask.ts';
import { lockedMs } from '../../../../worker/pipeline/ask/ask-steps.ts';
import { fastClock } from '../../../../worker/pipeline/clock.ts';
import { planAndAsk, Readings } from '../../../../worker/pipeline/plan-and-ask.ts';
import {
  anyone,
  eventOf,
  goesAhead,
  hour,
  jobsOf,
  overriding,
  type UnitContext,
  useManual,
} from '../../../support/manual.ts';

const world = useManual();
const readings = new Readings();
const goesOn = planAndAsk(async () => false, readings, { asking: 500 });
const stopped = planAndAsk(async () => true, readings, { asking: 500 });

const reads = ({ vendor }: UnitContext) => vendor.calls.filter(({ what }) => what === 'read').length;
const left = async ({ pipeline }: UnitContext) => await jobsOf(pipeline.jobs.ask);

let calm: UnitContext;
beforeEach(() => {
  calm = world.unitContext();
  calm.vendor.close('a', anyone);
});

test('a closing that is due at once is asked in the job that planned it, with one reading of its record', async () => {
  await goesOn(eventOf('a'), calm.context);
  expect(await calm.store.get('a.1')).toMatchObject({ state: 'asked' });
  expect(world.standin.requests()).toHaveLength(1);
  expect(reads(calm)).toBe(1);
  expect(await left(calm)).toEqual([]);
});

test('a closing that is due later is left to a job of its own', async () => {
  const later = world.unitContext({ rule: '{ name: all, campaign: 12, contact: customer.email, delay: 1h }' });
  later.vendor.close('a', anyone);
  await goesOn(eventOf('a'), later.context);
  expect(await left(later)).toEqual([{ journeyId: 'a.1' }]);
  expect(world.standin.requests()).toEqual([]);
});

test('of many that are due at once each waits for its turn', async () => {
  const one = planAndAsk(async () => false, readings, { asking: 1, patienceMs: 60_000 });
  const ids = ['a', 'b', 'c', 'd'];
  for (const id of ids) calm.vendor.close(id, { customer: { email: `${id}@example.com` } });
  await Promise.all(ids.map((id) => one(eventOf(id), calm.context)));
  expect(await left(calm)).toEqual([]);
  expect(world.standin.requests()).toHaveLength(4);
});

describe('it is left to a job of the asking stage', () => {
  test('where many are asked at the moment, with the reading of its record', async () => {
    const full = planAndAsk(async () => false, readings, { asking: 0, patienceMs: 0 });
    await full(eventOf('a'), calm.context);
    expect(await left(calm)).toEqual([{ journeyId: 'a.1' }]);
    await ask({ journeyId: 'a.1' }, { ...calm.context, read: readings.reader(calm.context.read) });
    expect(await calm.store.get('a.1')).toMatchObject({ state: 'asked' });
    expect(reads(calm)).toBe(1);
  });

  test('which keeps no batch waiting for a job that has the reading already', async () => {
    const { stages, jobs } = calm.pipeline;
    await jobs.ask.queue.pause();
    await stages.plan.run(eventOf('a'));
    await jobs.ask.queue.resume();
    const { contacts } = calm.context;
    const lock = contacts.lock.bind(contacts);
    const seen: boolean[] = [];
    vi.spyOn(contacts, 'lock').mockImplementation(async (...args) => {
      seen.push(jobs.ask.approach.isAny());
      return await lock(...args);
    });
    await stages.ask.run({ journeyId: 'a.1' });
    expect(seen).toEqual([false]);
    expect(reads(calm)).toBe(1);
  });

  test('where no turn comes in time, as the service is slow', async () => {
    const one = planAndAsk(async () => false, readings, { asking: 1, patienceMs: 50 });
    const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
    const contact = async () => {
      begun.resolve();
      return await answer.promise;
    };
    const first = one(eventOf('a'), { ...calm.context, feedback: { ...calm.context.feedback, contact } });
    await begun.promise;
    calm.vendor.close('b', { customer: { email: 'b@example.com' } });
    await one(eventOf('b'), calm.context);
    expect(await left(calm)).toEqual([{ journeyId: 'b.1' }]);
    answer.resolve(undefined);
    await first;
    expect(await calm.store.get('a.1')).toMatchObject({ state: 'asked' });
  });

  test('which reads the record where planning has not just done so', async () => {
    await stopped(eventOf('a'), calm.context);
    const old = new Readings();
    const reading = await calm.context.read('a', 'ask');
    old.keep('a', { ...reading, readAt: performance.now() - 6_000 });
    await ask({ journeyId: 'a.1' }, { ...calm.context, read: old.reader(calm.context.read) });
    expect(await calm.store.get('a.1')).toMatchObject({ state: 'asked' });
    expect(reads(calm)).toBe(3);
  });

  test('where that is stopped while a turn is waited for', async () => {
    let isStopped = false;
    const one = planAndAsk(async () => isStopped, readings, { asking: 1, patienceMs: 60_000 });
    const contact: typeof calm.context.feedback.contact = async (...args) => {
      isStopped = true;
      return await calm.context.feedback.contact(...args);
    };
    const stopping = { ...calm.context, feedback: { ...calm.context.feedback, contact } };
    calm.vendor.close('b', { customer: { email: 'b@example.com' } });
    await Promise.all(['a', 'b'].map((id) => one(eventOf(id), stopping)));
    expect(world.standin.requests()).toHaveLength(1);
    expect(await left(calm)).toHaveLength(1);
  });

  test('while that is stopped', async () => {
    await stopped(eventOf('a'), calm.context);
    expect(await calm.store.get('a.1')).toMatchObject({ state: 'waiting' });
    expect(await left(calm)).toEqual([{ journeyId: 'a.1' }]);
  });

  test('when asking fails: that stage meets the error itself', async () => {
    const contact = async () => {
      throw new CloseloopError('500', { kind: 'transient' });
    };
    await goesOn(eventOf('a'), { ...calm.context, feedback: { ...calm.context.feedback, contact } });
    expect(await calm.store.get('a.1')).toMatchObject({ state: 'waiting' });
    expect(await left(calm)).toEqual([{ journeyId: 'a.1' }]);
  });

  test('when it has to wait', async () => {
    const contacts = overriding(calm.context.contacts, { lock: async () => undefined });
    await goesOn(eventOf('a'), { ...calm.context, contacts });
    expect(await calm.store.get('a.1')).toMatchObject({ state: 'waiting' });
    expect(await left(calm)).toEqual([{ journeyId: 'a.1' }]);
  });
});

test('the job waits in real time, also where the clock runs faster', async () => {
  const clock = fastClock(new Date(), 10);
  clock.begin();
  const fast = world.unitContext({ clock, vendor: calm.vendor });
  const contacts = overriding(fast.context.contacts, { lock: async () => undefined });
  await goesOn(eventOf('a'), { ...fast.context, contacts });
  const [job] = await fast.pipeline.jobs.ask.queue.getJobs();
  expect(job?.opts.delay).toBeGreaterThanOrEqual(lockedMs / 2);
  expect(job?.opts.delay).toBeLessThanOrEqual(lockedMs * 1.5);
});

test('one that was killed while it asked is looked for, when the service may have ended with it', async () => {
  const event = eventOf('a');
  await stopped(event, calm.context);
  await (await calm.pipeline.jobs.ask.queue.getJobs())[0]?.remove();
  await goesAhead(calm, 'a.1');
  await goesOn(event, calm.context);
  const [job] = await calm.pipeline.jobs.ask.queue.getJobs();
  expect(job?.data).toEqual({ journeyId: 'a.1' });
  expect(job?.opts.delay).toBeGreaterThan(hour / 2);
  expect(world.standin.requests()).toEqual([]);
});
