import { ZodError } from 'zod';

/** What the queue does with a failed job. Nobody decides by message text or class name. */
export type Advice =
  /**
   * The same job may succeed later. `retryAfterMs` is the other side's own figure, never a guess.
   * `throttled`: the other side did nothing but ask us to wait; the wait spends no attempt.
   */
  | { kind: 'transient'; retryAfterMs?: number; throttled?: boolean }
  /** This job never will. `doubtful`: what says so may be a proxy between; a few tries must agree before it is believed. */
  | { kind: 'permanent'; doubtful?: boolean }
  /**
   * No job of this source will, until an operator acts. `only`: just the jobs that need this ('campaign 12',
   * 'rule "phone team"', 'operation create') wait for the operator, all others go on.
   */
  | { kind: 'config'; doubtful?: boolean; only?: string };

/**
 * Whether the other side did the work before the call failed. Only `never-sent` and `refused` allow a second attempt
 * of a call that isn't idempotent; `unknown` must be looked up first.
 */
export type Outcome = 'never-sent' | 'refused' | 'unknown';

/**
 * The one error that leaves a client or a connector.
 * `message` names the place and the remedy and never holds personal data (no bodies, contacts or comments).
 */
export class CloseloopError extends Error {
  override readonly name: string = 'CloseloopError';
  readonly advice: Advice;
  readonly outcome: Outcome;
  /** What the other side calls this very call, for its support. Not in `message`: equal faults must read alike. */
  readonly reference: string | undefined;

  constructor(
    message: string,
    advice: Advice,
    options: { outcome?: Outcome; cause?: unknown; reference?: string | undefined } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.advice = advice;
    this.outcome = options.outcome ?? 'refused';
    this.reference = options.reference;
  }
}

/**
 * What to do about anything thrown. An answer of another shape than documented is permanent: it will have that shape
 * again. A bug of ours (neither) is transient: it is retried, then fails visibly.
 */
export function adviceOf(error: unknown): Advice {
  if (error instanceof CloseloopError) return error.advice;
  return { kind: error instanceof ZodError ? 'permanent' : 'transient' };
}

/** What anything thrown says, for the log or the trace. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
