import { adviceOf, CloseloopError, messageOf } from '../../../core/errors.ts';

/** What an erasure could not do yet. No personal data. */
export interface Held {
  what: string;
  why: string;
  /** It will pass by itself. */
  passes: boolean;
}

/** @throws the error itself, where it is none of the service's or a vendor's: Redis is away, or a bug of ours */
export function heldBy(error: unknown, what: string): Held {
  if (!(error instanceof CloseloopError)) throw error;
  return { what, why: messageOf(error), passes: adviceOf(error).kind === 'transient' };
}
