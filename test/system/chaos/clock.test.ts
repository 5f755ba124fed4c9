import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import type { Journey } from '../../../worker/journey/journey.ts';
import { type Loop, startLoop, until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';

const redis = useRedis();
vi.setConfig({ testTimeout: 180_000 });
const hour = 3_600_000;
const RealDate = Date;
/** What the machine's clock says beside the truth: for closeloop and for BullMQ under it, not for the service. */
let machineMs = 0;
/** Time that passed while nobody looked: a machine that was asleep. For everybody. */
let passedMs = 0;

vi.stubGlobal(
  'Date',
  new Proxy(RealDate, {
    construct: (target, args, same) => Reflect.construct(target, args.length === 0 ? [machineNow()] : args, same),
    get: (target, key) => (key === 'now' ? machineNow : Reflect.get(target, key)),
  }),
);
const trueNow = (): number => RealDate.now() + passedMs;
function machineNow(): number {
  return trueNow() + machineMs;
}
afterAll(() => vi.unstubAllGlobals());

/** A Monday in November at this hour in Tallinn (UTC+2), by everybody's clock. */
function itIs(clock: string, day = 23): void {
  passedMs = RealDate.parse(`2026-11-${day}T${clock}:00+02:00`) - RealDate.now();
}

beforeEach(async () => {
  await redis.handle.client.flushall();
  machineMs = 0;
  itIs('14:00');
});

const daytime =
  '{ name: all, campaign: 12, contact: customer.email, delay: 1h, window: { from: "09:00", until: "20:00" } }';
const atOnce = '{ name: all, campaign: 12, contact: customer.email, window: { from: "09:00", until: "20:00" } }';

interface TimedLoop extends Loop {
  /** The journey as it waits, when the job that asks is stored as well: it bears the clock of the moment in which it is. */
  waiting(id: string): Promise<Journey>;
  done(): Promise<void>;
}

async function start(source: string, rule: string, searchAfter = '50ms'): Promise<TimedLoop> {
  const feedback = await startFeedbackStandin({ seed: true, now: () => new RealDate(trueNow()) });
  const loop = await startLoop(redis, { source, rule, feedback, searchAfter });
  return {
    ...loop,
    waiting: async (id) => {
      const journey = await loop.journey(id, 'waiting');
      await until(async () => (await loop.app.engine.busy()) === 0);
      return journey;
    },
    done: async () => {
      await loop.close();
      await feedback.close();
    },
  };
}

/** When the service got its requests, by the service's clock, in Tallinn. */
function hoursAsked({ feedback }: Loop): number[] {
  const inTallinn = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Tallinn', hour: 'numeric', hourCycle: 'h23' });
  return feedback.standin.requests().map(({ dueAt }) => Number(inTallinn.format(new RealDate(dueAt))));
}

/** Longer than a worker waits for the next job without looking at the clock. */
const blockedMs = 11_000;

test('a machine that slept through the evening asks the next morning, not when it wakes at night', async () => {
  const loop = await start('asleep', daytime);
  await loop.post(loop.vendor.close('s').delivery);
  expect((await loop.waiting('s.1')).dueAt?.getTime()).toBeGreaterThan(trueNow() + 0.9 * hour);
  itIs('23:00');
  const put = await until(async () => {
    const journey = await loop.store.get('s.1');
    return journey?.dueAt && journey.dueAt.getTime() > trueNow() && journey;
  });
  expect(put.dueAt?.toISOString()).toBe('2026-11-24T07:00:00.000Z');
  expect(loop.feedback.standin.requests()).toEqual([]);
  itIs('09:30', 24);
  await loop.journey('s.1', 'asked');
  expect(hoursAsked(loop)).toEqual([9]);
  await loop.done();
});

test('a clock that was hours ahead, and is set right before it is time to ask, sends once and by day', async () => {
  const loop = await start('ahead', daytime);
  machineMs = 8 * hour;
  await loop.post(loop.vendor.close('a').delivery);
  // By that clock it is 22:00.
  expect((await loop.waiting('a.1')).dueAt?.toISOString()).toBe('2026-11-24T07:00:00.000Z');
  machineMs = 0;
  await sleep(blockedMs);
  expect(loop.feedback.standin.requests()).toEqual([]);
  itIs('09:30', 24);
  await loop.journey('a.1', 'asked');
  expect(hoursAsked(loop)).toEqual([9]);
  await loop.done();
});

test('a clock that is set back by hours while it is waited for the time to ask asks once, by day', async () => {
  const loop = await start('back', daytime);
  await loop.post(loop.vendor.close('b').delivery);
  await loop.waiting('b.1');
  machineMs = -8 * hour;
  await sleep(blockedMs);
  expect(loop.feedback.standin.requests()).toEqual([]);
  machineMs = 0;
  itIs('15:30');
  await loop.journey('b.1', 'asked');
  expect(hoursAsked(loop)).toEqual([15]);
  await loop.done();
});

test.each([
  ['forwards', 5],
  ['backwards', -4],
])('a clock that jumps %s while a request is on its way does not send another', async (which, hours) => {
  const loop = await start(which, atOnce);
  const { standin } = loop.feedback;
  standin.faults.add({ method: 'POST', path: '^/api/appeals/$', delayMs: 600_000 });
  await loop.post(loop.vendor.close('w').delivery);
  await until(() => standin.faults.list().length === 0);
  machineMs = hours * hour;
  standin.faults.clear();
  await loop.journey('w.1', 'asked');
  await until(async () => (await loop.app.engine.busy()) === 0);
  expect(standin.requests()).toHaveLength(1);
  await loop.done();
});

test.each([
  ['forwards', 5],
  ['backwards', -4],
])(
  'a clock that jumps %s after an answer was lost finds the request, and does not send another',
  async (which, hours) => {
    // Not before the clock has jumped.
    const loop = await start(`lost-${which}`, atOnce, '3s');
    const { standin } = loop.feedback;
    standin.faults.add({ method: 'POST', path: '^/api/appeals/$', then: 'work-then-cut' });
    await loop.post(loop.vendor.close('l').delivery);
    await until(async () => (await loop.store.trace('l.1')).some(({ text }) => text.includes('outcome unknown')));
    machineMs = hours * hour;
    if (hours < 0) {
      // It is looked for at the time that was noted: late by as much as the clock was set back.
      await sleep(blockedMs);
      itIs('19:00');
    }
    await loop.journey('l.1', 'asked');
    expect(standin.requests()).toHaveLength(1);
    await loop.done();
  },
);

test('grades are collected soon after the clock was set back by hours', async () => {
  const loop = await start('grades', atOnce);
  await loop.post(loop.vendor.close('g').delivery);
  await loop.journey('g.1', 'asked');
  machineMs = -4 * hour;
  loop.feedback.standin.answer({ contact: 'g@example.com', grade: 5 });
  await loop.journey('g.1', 'written');
  expect(loop.vendor.written).toMatchObject([{ recordId: 'g', grade: 5 }]);
  await loop.done();
});
