import { setTimeout as sleep } from 'node:timers/promises';
import { adviceOf, CloseloopError, isConnectorBug, messageOf } from '../../core/errors.ts';
import { nextStep, type RetryPolicy } from '../../core/retry.ts';

/** Shows the progress of long work: on a terminal one line that changes, elsewhere a line now and then. */
export interface Progress {
  update(text: string): void;
  /** Prints a line that stays. */
  say(text: string): void;
  end(): void;
}

const everyMs = 10_000;

export function progress(stream: NodeJS.WriteStream): Progress {
  let shownAt = 0;
  const clear = '\r\u001b[K';
  return {
    update(text) {
      if (stream.isTTY) stream.write(`${clear}${text}`);
      else if (Date.now() - shownAt >= everyMs) {
        shownAt = Date.now();
        stream.write(`${text}\n`);
      }
    },
    say: (text) => void stream.write(`${stream.isTTY ? clear : ''}${text}\n`),
    end: () => {
      if (stream.isTTY) stream.write(clear);
    },
  };
}

/** A person waits at the terminal: a call that fails, and names no time to wait, is tried for a minute. */
const policy: RetryPolicy = { firstMs: 1_000, longestMs: 10_000, forMs: 60_000 };
/** A vendor that wants a longer wait is given up for now. */
const longestWaitMs = 600_000;

/**
 * Work of a command that a vendor may put off: waits as long as it says, and tells so. For work that may be done again after a failure.
 * @param who Whose work it is, for people.
 */
export async function patiently<T>(who: string, work: () => Promise<T>, shown: Pick<Progress, 'update'>): Promise<T> {
  const begun = Date.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      // Anything else is a bug, which waiting won't mend.
      if (!(error instanceof CloseloopError) || isConnectorBug(error)) throw error;
      const failing = { attempt, elapsedMs: Date.now() - begun, doubts: attempt };
      const step = nextStep(adviceOf(error), failing, Math.random(), policy);
      if (step.do === 'stop' || failing.elapsedMs + step.delayMs > longestWaitMs) throw error;
      await counted(step.delayMs, (seconds) => shown.update(`${who}: goes on in ${seconds} s (${messageOf(error)})`));
    }
  }
}

/** Waits, and tells every second how long still. */
async function counted(ms: number, show: (seconds: number) => void): Promise<void> {
  for (let left = ms; left > 0; left -= 1_000) {
    show(Math.ceil(left / 1_000));
    await sleep(Math.min(1_000, left));
  }
}
