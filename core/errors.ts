import { ZodError } from 'zod';
import { mismatchesOf } from './mismatches.ts';
import { redacted } from './redaction.ts';

/** What the queue does with a failed job. No code decides by the text of a message or the name of a class. */
export type Advice =
  /**
   * The same job may succeed later. `retryAfterMs` is the wait that the other side's response asks for, never a guess; at most a day. The
   * queue itself waits no longer than `longestWaitMs`.
   * `throttled`: the other side only asked for a wait (rate limit); the wait spends no attempt.
   * `bug`: the connector's own code failed. The other side is not away, and a person has to correct the connector.
   */
  | { kind: 'transient'; retryAfterMs?: number; throttled?: boolean; bug?: boolean }
  /** This job will never succeed. `doubtful`: the response may come from a proxy, so several attempts have to agree. */
  | { kind: 'permanent'; doubtful?: boolean }
  /**
   * No job of this source will succeed until an operator acts. `only`: the jobs that need this ('campaign 12',
   * 'rule "phone team"', 'operation create') wait for the operator; all other jobs go on.
   */
  | { kind: 'config'; doubtful?: boolean; only?: string };

/**
 * Whether the other side did the work before the call failed. Only `never-sent` and `refused` allow a second attempt
 * of a call that isn't idempotent; after `unknown`, closeloop must first find out what the call did.
 */
export type Outcome = 'never-sent' | 'refused' | 'unknown';

/**
 * The only class of error that leaves a client or a connector.
 * `message` names the place and the remedy and never holds personal data (no bodies, contacts or comments).
 */
export class CloseloopError extends Error {
  override readonly name: string = 'CloseloopError';
  readonly advice: Advice;
  readonly outcome: Outcome;
  /** The other side's id of this call, for its support. It is not part of `message`, so that equal faults have equal messages. */
  readonly reference: string | undefined;

  constructor(
    message: string,
    advice: Advice,
    options: { outcome?: Outcome; cause?: unknown; reference?: string | undefined } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.advice = withinADay(advice);
    this.outcome = options.outcome ?? 'refused';
    // The reference comes from a response header, which any proxy may have set.
    this.reference = /^[\w:.-]{1,100}$/.test(options.reference ?? '') ? options.reference : undefined;
  }
}

/** An error that the person who runs the command, or who wrote the configuration, has to mend. */
export function refusal(message: string, cause?: unknown): CloseloopError {
  return new CloseloopError(message, { kind: 'config' }, { cause });
}

/** An error before anything was sent. `config`: nothing is sent until a person acts; `permanent`: nothing is ever sent. */
export function neverSent(message: string, kind: 'config' | 'permanent' = 'config', cause?: unknown): CloseloopError {
  return new CloseloopError(message, { kind }, { outcome: 'never-sent', cause });
}

/** Whether this is an error of Node or the operating system with this code: 'ENOENT'. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

const aDayMs = 86_400_000;

/** Caps the wait that an answer asks for at a day, and ignores a value that is no number. */
function withinADay(advice: Advice): Advice {
  if (advice.kind !== 'transient' || advice.retryAfterMs === undefined) return advice;
  const { retryAfterMs, ...rest } = advice;
  if (Number.isNaN(retryAfterMs)) return rest;
  return { ...rest, retryAfterMs: Math.min(Math.max(0, retryAfterMs), aDayMs) };
}

/**
 * The advice for anything thrown. An answer in an undocumented shape is permanent, as the next answer will have the same shape.
 * Any other error is a bug of closeloop's own: transient, so that the job is retried and then fails visibly.
 */
export function adviceOf(error: unknown): Advice {
  if (error instanceof CloseloopError) return error.advice;
  return { kind: error instanceof ZodError ? 'permanent' : 'transient' };
}

/** Whether a connector's own code failed: that says nothing about the vendor, and waiting at a terminal does not mend it. */
export function isConnectorBug(error: unknown): boolean {
  return error instanceof CloseloopError && error.advice.kind === 'transient' && error.advice.bug === true;
}

/** Whether the call that threw this error may have been carried out. For anything but a CloseloopError this is not known. */
export function outcomeOfError(error: unknown): Outcome {
  return error instanceof CloseloopError ? error.outcome : 'unknown';
}

/**
 * The message of anything thrown, for the log or the trace. Errors of Node and of libraries quote the values that caused them:
 * everything in quotation marks, and everything that looks like an address, is left out.
 */
export function messageOf(error: unknown): string {
  if (error instanceof CloseloopError) return redacted(error.message);
  if (error instanceof ZodError) return `another shape than expected, at ${mismatchesOf(error).slice(0, 5).join('; ')}`;
  const text = error instanceof Error ? error.message : String(error);
  // An error of the operating system names a file or an address, not a value.
  if (error instanceof Error && 'syscall' in error) return redacted(text);
  // A SyntaxError of JSON.parse quotes part of the JSON.
  if (error instanceof SyntaxError && text.endsWith('is not valid JSON')) return 'a text that is not valid JSON';
  return redacted(text.replaceAll(quotation, (whole, inner: string) => (codeName.test(inner) ? whole : '"…"')));
}

const quotation = /(?<![\p{L}\p{N}])["'`]([\s\S]*?)["'`](?![\p{L}\p{N}])/gu;
/** A name from code, as in `(reading 'length')`. */
const codeName = /^[a-z_$][\w$]{0,39}$/;

/** The name, the redacted message and the stack frames of anything thrown, for debugging. */
export function stackOf(error: Error): string {
  const places = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [`${redacted(error.name)}: ${messageOf(error)}`, ...places].join('\n');
}
