import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Advice } from '../../core/errors.ts';
import { nextStep, patient, type RetryPolicy, type Step } from '../../core/retry.ts';

const policy: RetryPolicy = { firstMs: 1_000, longestMs: 60_000, maxAttempts: 8 };

describe('nextStep', () => {
  const rows: [name: string, advice: Advice, attempt: number, random: number, expected: Step][] = [
    ['draws the first wait from one second', { kind: 'transient' }, 1, 0.5, { do: 'retry', delayMs: 500 }],
    ['doubles with every attempt', { kind: 'transient' }, 4, 0.5, { do: 'retry', delayMs: 4_000 }],
    ['stops growing at its longest', { kind: 'transient' }, 7, 0.5, { do: 'retry', delayMs: 30_000 }],
    ['may draw no wait at all', { kind: 'transient' }, 4, 0, { do: 'retry', delayMs: 0 }],
    [
      'waits the longer of backoff and Retry-After',
      { kind: 'transient', retryAfterMs: 90_000 },
      1,
      0.9,
      { do: 'retry', delayMs: 90_000 },
    ],
    [
      'waits the backoff where Retry-After is shorter',
      { kind: 'transient', retryAfterMs: 100 },
      4,
      0.5,
      { do: 'retry', delayMs: 4_000 },
    ],
    [
      'gives up after the last attempt',
      { kind: 'transient', retryAfterMs: 100 },
      8,
      0.5,
      { do: 'stop', why: 'exhausted' },
    ],
    [
      'spends no attempt where it was only asked to wait',
      { kind: 'transient', throttled: true, retryAfterMs: 30_000 },
      99,
      0,
      { do: 'wait', delayMs: 30_000 },
    ],
    [
      'spreads the return after such a wait',
      { kind: 'transient', throttled: true, retryAfterMs: 30_000 },
      1,
      0.5,
      { do: 'wait', delayMs: 31_500 },
    ],
    [
      'waits a while where nobody said how long',
      { kind: 'transient', throttled: true },
      1,
      0,
      { do: 'wait', delayMs: 5_000 },
    ],
    ['never retries what is permanent', { kind: 'permanent' }, 1, 0.5, { do: 'stop', why: 'permanent' }],
    ['never retries a bad credential', { kind: 'config' }, 1, 0.5, { do: 'stop', why: 'config' }],
  ];
  for (const [name, advice, attempt, random, expected] of rows) {
    test(name, () => expect(nextStep(advice, attempt, random, policy)).toStrictEqual(expected));
  }

  test('never comes back before the server said, nor later than the longest wait without its word', () => {
    const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), draw, fc.nat(10_000_000), (attempt, random, retryAfterMs) => {
        const patience = { ...patient, maxAttempts: 100_000 };
        const told = nextStep({ kind: 'transient', retryAfterMs }, attempt, random, patience);
        expect(told.do === 'retry' && told.delayMs >= retryAfterMs && Number.isInteger(told.delayMs)).toBe(true);
        const free = nextStep({ kind: 'transient' }, attempt, random, patience);
        expect(free.do === 'retry' && free.delayMs <= patient.longestMs).toBe(true);
      }),
    );
  });

  test('keeps trying for hours by default', () => {
    let total = 0;
    for (let attempt = 1; ; attempt += 1) {
      const step = nextStep({ kind: 'transient' }, attempt, 0.5);
      if (step.do === 'stop') break;
      total += step.delayMs;
    }
    expect(total).toBeGreaterThan(6 * 3_600_000);
  });
});
