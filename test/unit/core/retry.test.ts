import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Advice } from '../../../core/errors.ts';
import { longestWaitMs, nextStep, patient, type RetryPolicy, type Step } from '../../../core/retry.ts';

const policy: RetryPolicy = { firstMs: 1_000, longestMs: 60_000, forMs: 86_400_000 };
const transient: Advice = { kind: 'transient' };
const later = (retryAfterMs: number): Advice => ({ kind: 'transient', retryAfterMs });
const throttled = (retryAfterMs?: number): Advice => ({
  ...{ kind: 'transient', throttled: true },
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const retry = (delayMs: number): Step => ({ do: 'retry', delayMs });
const wait = (delayMs: number): Step => ({ do: 'wait', delayMs });
const stop = (why: Extract<Step, { do: 'stop' }>['why']): Step => ({ do: 'stop', why });
/** Failing for an hour already. */
const failing = (attempt: number, elapsedMs = 3_600_000, doubts = 0) => ({ attempt, elapsedMs, doubts });

describe('nextStep', () => {
  const rows: [name: string, advice: Advice, attempt: number, random: number, expected: Step][] = [
    ['draws the first wait from one second', transient, 1, 0.5, retry(500)],
    ['doubles with every attempt', transient, 4, 0.5, retry(4_000)],
    ['stops growing at its longest', transient, 7, 0.5, retry(30_000)],
    ['may draw no wait at all', transient, 4, 0, retry(0)],
    ['waits the longer of backoff and Retry-After', later(90_000), 1, 0.9, retry(90_000)],
    ['waits the backoff where Retry-After is shorter', later(100), 4, 0.5, retry(4_000)],
    ['spends no attempt where it was only asked to wait', throttled(30_000), 99, 0, wait(30_000)],
    ['spreads the return after such a wait', throttled(30_000), 1, 0.5, wait(31_500)],
    ['waits a while where nobody said how long', throttled(), 1, 0, wait(5_000)],
    ['tries again within a quarter of an hour, whatever it was asked', throttled(86_400_000), 1, 1, wait(900_000)],
    ['spreads these returns, too', throttled(86_400_000), 1, 0, wait(818_182)],
    ['tries again within a quarter of an hour, whatever Retry-After says', later(86_400_000), 1, 0.5, retry(900_000)],
    ['never retries what is permanent', { kind: 'permanent' }, 1, 0.5, stop('permanent')],
    ['never retries a bad credential', { kind: 'config' }, 1, 0.5, stop('config')],
  ];
  for (const [name, advice, attempt, random, expected] of rows) {
    test(name, () => expect(nextStep(advice, failing(attempt), random, policy)).toStrictEqual(expected));
  }

  const ends: [name: string, advice: Advice, of: ReturnType<typeof failing>, expected: Step][] = [
    ['goes on after many attempts, while its time runs', transient, failing(10_000, policy.forMs - 1), retry(30_000)],
    ['gives up what has failed for so long', later(100), failing(2, policy.forMs), stop('exhausted')],
    ['goes on waiting as long as it is asked to', throttled(10_000), failing(2, 2 * policy.forMs), wait(10_500)],
  ];
  for (const [name, advice, of, expected] of ends) {
    test(`${name} (audit 16)`, () => expect(nextStep(advice, of, 0.5, policy)).toStrictEqual(expected));
  }

  test('tries a doubtful failure a few times before it believes it (audit 17)', () => {
    const steps = [1, 2, 3, 4, 5].map((doubts) =>
      nextStep({ kind: 'config', doubtful: true }, failing(doubts, 0, doubts), 0.5, policy),
    );
    expect(steps).toStrictEqual([retry(500), retry(1_000), retry(2_000), retry(4_000), stop('config')]);
    const permanent = nextStep({ kind: 'permanent', doubtful: true }, failing(1, 0, 1), 0.5, policy);
    expect(permanent).toStrictEqual(retry(500));
  });

  test('never comes back before the server said, nor later than a quarter of an hour then, nor later than the longest wait without its word', () => {
    const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), draw, fc.nat(10_000_000), (attempt, random, retryAfterMs) => {
        const told = nextStep({ kind: 'transient', retryAfterMs }, failing(attempt), random);
        expect(
          told.do === 'retry' &&
            told.delayMs >= Math.min(longestWaitMs, retryAfterMs) &&
            Number.isInteger(told.delayMs),
        ).toBe(true);
        const free = nextStep(transient, failing(attempt), random);
        expect(free.do === 'retry' && free.delayMs <= patient.longestMs).toBe(true);
      }),
    );
  });

  test('keeps trying for a week by default, every half hour at most in the end (audit 16)', () => {
    const week = 7 * 86_400_000;
    let elapsedMs = 0;
    let attempt = 1;
    for (; ; attempt += 1) {
      const step = nextStep(transient, failing(attempt, elapsedMs), 0.5);
      if (step.do === 'stop') break;
      elapsedMs += step.delayMs;
    }
    expect(elapsedMs).toBeGreaterThanOrEqual(week);
    expect(elapsedMs).toBeLessThan(week + patient.longestMs);
    expect(attempt).toBeLessThan(1_000);
  });
});
