import { ZodError } from 'zod';
import { mismatchesOf } from './mismatches.ts';
import { redacted } from './redaction.ts';

/** What the queue does with a failed job. Nobody decides by message text or class name. */
export type Advice =
  /**
   * The same job may succeed later. `retryAfterMs` is the other side's own figure, never a guess; a day at most.
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
    this.advice = withinADay(advice);
    this.outcome = options.outcome ?? 'refused';
    // From an answer, where anybody on the way may have written it.
    this.reference = /^[\w:.-]{1,100}$/.test(options.reference ?? '') ? options.reference : undefined;
  }
}

const aDayMs = 86_400_000;

/** Nobody means years, and what is no number is no wait: an answer may say anything, and whoever waits believes it. */
function withinADay(advice: Advice): Advice {
  if (advice.kind !== 'transient' || advice.retryAfterMs === undefined) return advice;
  const { retryAfterMs, ...rest } = advice;
  if (Number.isNaN(retryAfterMs)) return rest;
  return { ...rest, retryAfterMs: Math.min(Math.max(0, retryAfterMs), aDayMs) };
}

/**
 * What to do about anything thrown. An answer of another shape than documented is permanent: it will have that shape
 * again. A bug of ours (neither) is transient: it is retried, then fails visibly.
 */
export function adviceOf(error: unknown): Advice {
  if (error instanceof CloseloopError) return error.advice;
  return { kind: error instanceof ZodError ? 'permanent' : 'transient' };
}

/**
 * What anything thrown says, for the log or the trace. Errors of Node, of libraries and of a connector's own bugs quote the
 * values that they stumbled over: of those nothing is told that stands in quotation marks or looks like an address.
 */
export function messageOf(error: unknown): string {
  if (error instanceof CloseloopError) return redacted(error.message);
  if (error instanceof ZodError) return `another shape than expected, at ${mismatchesOf(error).slice(0, 5).join('; ')}`;
  const text = error instanceof Error ? error.message : String(error);
  // The operating system's: it names a file or an address, not a value.
  if (error instanceof Error && 'syscall' in error) return redacted(text);
  // It quotes the JSON from somewhere in its middle.
  if (error instanceof SyntaxError && text.endsWith('is not valid JSON')) return 'a text that is not valid JSON';
  return redacted(text.replaceAll(quotation, (whole, inner: string) => (codeName.test(inner) ? whole : '"…"')));
}

const quotation = /(?<![\p{L}\p{N}])["'`]([\s\S]*?)["'`](?![\p{L}\p{N}])/gu;
/** What code calls something: `(reading 'length')`. */
const codeName = /^[a-z_$][\w$]{0,39}$/;

/** Where anything thrown comes from, for whoever mends it: the name, the message as it may be told, and the places. */
export function stackOf(error: Error): string {
  const places = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [`${redacted(error.name)}: ${messageOf(error)}`, ...places].join('\n');
}
