import type { Advice } from './errors.ts';

/** What to do with a failed job. `wait` spends no attempt, `retry` does. */
export type Step =
  | { do: 'retry'; delayMs: number }
  | { do: 'wait'; delayMs: number }
  | { do: 'stop'; why: 'permanent' | 'config' | 'exhausted' };

/** The wait before the next attempt is drawn between 0 and `firstMs` × 2ⁿ⁻¹, at most `longestMs`. */
export interface RetryPolicy {
  firstMs: number;
  longestMs: number;
  maxAttempts: number;
}

/** Attempts for half a day to a day: seconds at first, every half hour at most in the end. A vendor's bad day loses nothing. */
export const patient: RetryPolicy = { firstMs: 1_000, longestMs: 1_800_000, maxAttempts: 60 };

/** How long to wait when the other side asked for a wait but not for how long. */
const throttledMs = 5_000;

/**
 * @param attempt counts from 1, the one that just failed
 * @param random 0 ≤ x < 1: the whole wait is drawn by lot ("full jitter"), so that jobs that failed together don't
 *   return together. A server's own figure is a lower bound, never shortened.
 */
export function nextStep(advice: Advice, attempt: number, random: number, policy: RetryPolicy = patient): Step {
  if (advice.kind !== 'transient') return { do: 'stop', why: advice.kind };
  if (advice.throttled === true) {
    return { do: 'wait', delayMs: Math.ceil((advice.retryAfterMs ?? throttledMs) * (1 + random / 10)) };
  }
  if (attempt >= policy.maxAttempts) return { do: 'stop', why: 'exhausted' };
  const ceiling = Math.min(policy.longestMs, policy.firstMs * 2 ** Math.min(attempt - 1, 40));
  return { do: 'retry', delayMs: Math.max(Math.ceil(ceiling * random), advice.retryAfterMs ?? 0) };
}
