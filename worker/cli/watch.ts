import type { CloseloopError } from '../../core/errors.ts';
import { Rounds } from '../pipeline/rounds.ts';

/** Time between two checks. data-version.ts relies on it; a process with another key can store data with it for this long. Real time. */
const everyMs = 1_000;

export interface Watch {
  /** Resolves with the reason why this process must end; never otherwise. */
  lost: Promise<CloseloopError>;
  stop(): Promise<void>;
}

/** Checks once a second whether this process may go on. @param check returns the reason why it may not */
export function watch(check: () => Promise<CloseloopError | undefined>, onError: (error: unknown) => void): Watch {
  const { promise: lost, resolve } = Promise.withResolvers<CloseloopError>();
  const rounds = new Rounds(async () => {
    const why = await check();
    if (why) resolve(why);
  }, onError);
  rounds.start(everyMs);
  return { lost, stop: () => rounds.stop(everyMs) };
}
