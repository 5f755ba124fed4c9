import { adviceOf, CloseloopError, messageOf } from '../../../core/errors.ts';

/** What an erasure could not do yet. No personal data. */
export interface Held {
  what: string;
  why: string;
  /** A later attempt will succeed without a person. */
  passes: boolean;
}

/** @throws the error itself, where it is not the service's or a vendor's: Redis is down, or a bug of closeloop's own */
export function heldBy(error: unknown, what: string): Held {
  if (!(error instanceof CloseloopError)) throw error;
  return { what, why: messageOf(error), passes: adviceOf(error).kind === 'transient' };
}
