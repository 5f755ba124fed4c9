import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConcurrencyLimiter, nextLimit } from '../../../../worker/pipeline/admission.ts';
import { askingAtOnce } from '../../../../worker/pipeline/stages.ts';

const range = { least: 250, most: 1_000 };

test.each([
  { now: 400, busy: 0.5, next: 600, as: 'takes up more while the process waits for others, or for work' },
  { now: 900, busy: 0.5, next: 1_000, as: 'takes up no more than the most' },
  { now: 500, busy: 0.85, next: 500, as: 'stays as it is while the process hardly waits' },
  { now: 1_000, busy: 1, next: 800, as: 'takes up fewer while the process is busy' },
  { now: 260, busy: 1, next: 250, as: 'takes up no fewer than the least' },
])('a stage of $now $as', ({ now, busy, next }) => {
  expect(nextLimit(now, { ...range, busy })).toBe(next);
});

test('a stage finds its way from any limit: to the most while it waits, to the least while it is busy', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.boolean(), (least, isBusy) => {
      let limit = isBusy ? 1_000 : least;
      for (let look = 0; look < 50; look++) limit = nextLimit(limit, { least, most: 1_000, busy: isBusy ? 1 : 0 });
      expect(limit).toBe(isBusy ? least : 1_000);
    }),
  );
});

test('places are counted by what jobs hold, narrowed to one job, and restored as they were', async () => {
  const told: number[] = [];
  const limiter = new ConcurrencyLimiter(range, 50, (jobs) => void told.push(jobs));
  expect(limiter.jobsAtOnce).toBe(20);
  for (let look = 0; look < 10; look++) limiter.adapt(1);
  expect([limiter.jobsAtOnce, told.at(-1)]).toEqual([5, 5]);
  const end = Promise.withResolvers<void>();
  const running = [40, 50, 50, 50, 50].map((held) => limiter.run(held, () => end.promise));
  // 10 places are left, for one more job.
  expect(limiter.jobsAtOnce).toBe(6);
  limiter.narrow(true);
  expect(limiter.jobsAtOnce).toBe(5);
  limiter.narrow(false);
  limiter.adapt(0.1);
  // 375 places, of which 240 are taken: three more jobs.
  expect([limiter.jobsAtOnce, told.at(-1)]).toEqual([8, 8]);
  end.resolve();
  await Promise.all(running);
  expect(limiter.jobsAtOnce).toBe(8);
});

test.each([
  { calls: 100, planned: 250, stage: 250 },
  { calls: 2, planned: 5, stage: 100 },
])(
  'a process that may make $calls calls at once leaves to others what would only wait for them',
  ({ calls, ...rest }) => {
    expect(askingAtOnce(calls)).toEqual(rest);
  },
);
