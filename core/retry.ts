import type { Advice } from './errors.ts';

/** What to do with a failed job. A `wait` says nothing about the job, so it does not count towards the time after which the job is given up. */
export type Step =
  | { do: 'retry'; delayMs: number }
  | { do: 'wait'; delayMs: number }
  | { do: 'stop'; why: 'permanent' | 'config' | 'exhausted' };

/** The wait before the next attempt is drawn between 0 and `firstMs` × 2ⁿ⁻¹, at most `longestMs`. */
export interface RetryPolicy {
  firstMs: number;
  longestMs: number;
  /** A job that has failed for this long, without success in between, is given up. */
  forMs: number;
}

/** Seconds at first, half an hour at most, for a week: an outage of a day or a weekend loses nothing. */
export const patient: RetryPolicy = { firstMs: 1_000, longestMs: 1_800_000, forMs: 7 * 86_400_000 };

/** The failures of a job so far. */
export interface Failing {
  /** The attempt that just failed, from 1. */
  attempt: number;
  /** The time since the job's first failure, without success in between. */
  elapsedMs: number;
  /** How many of the failures were doubtful, this one included. */
  doubts: number;
}

/**
 * The longest wait that closeloop accepts from the other side. A longer wait may be a mistake, or may end early, and
 * no customer would be asked for feedback meanwhile.
 */
export const longestWaitMs = 900_000;

/** How much of a wait is random. */
const spread = 0.1;

/** The wait when the other side asked for a wait without saying how long. */
const throttledMs = 5_000;

/** After this many doubtful failures the job counts as failed for good. */
const mostDoubts = 5;

/**
 * @param random 0 ≤ x < 1: the whole wait is random ("full jitter"), so that jobs that failed together are not retried
 *   together. A server's Retry-After is a lower bound, up to `longestWaitMs`.
 */
export function nextStep(advice: Advice, failing: Failing, random: number, policy: RetryPolicy = patient): Step {
  const { attempt, elapsedMs, doubts } = failing;
  const ceiling = (n: number) => Math.min(policy.longestMs, policy.firstMs * 2 ** Math.min(n - 1, 40));
  if (advice.kind !== 'transient') {
    if (advice.doubtful !== true || doubts >= mostDoubts) return { do: 'stop', why: advice.kind };
    return { do: 'retry', delayMs: Math.ceil(ceiling(doubts) * random) };
  }
  if (advice.throttled === true) {
    const askedMs = Math.min(advice.retryAfterMs ?? throttledMs, longestWaitMs / (1 + spread));
    return { do: 'wait', delayMs: Math.ceil(askedMs * (1 + random * spread)) };
  }
  if (elapsedMs >= policy.forMs) return { do: 'stop', why: 'exhausted' };
  return {
    do: 'retry',
    delayMs: Math.max(Math.ceil(ceiling(attempt) * random), Math.min(longestWaitMs, advice.retryAfterMs ?? 0)),
  };
}
