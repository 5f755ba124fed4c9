import { setTimeout as sleep } from 'node:timers/promises';
import type { PollPage, RecordEvent, Source } from '../../core/connector/contract.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import { adviceOf, CloseloopError, messageOf, refusal } from '../../core/errors.ts';
import { longestWaitMs, nextStep, type RetryPolicy } from '../../core/retry.ts';
import { mostPages } from '../pipeline/plan/poll.ts';
import { instant } from '../support/instant.ts';
import { livePorts } from './live-ports.ts';

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
const mostPatienceMs = 600_000;

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
      // Anything else is a bug of ours, which waiting won't mend.
      if (!(error instanceof CloseloopError)) throw error;
      const failing = { attempt, elapsedMs: Date.now() - begun, doubts: attempt };
      const step = nextStep(adviceOf(error), failing, Math.random(), policy);
      if (step.do === 'stop' || failing.elapsedMs + step.delayMs > mostPatienceMs) throw error;
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

export interface Period {
  since: Date;
  until: Date;
}

/** @throws CloseloopError config for a period that ends before it begins, or begins before 1970 */
export function periodOf(options: { since: string; until?: string }, timeZone: string): Period {
  const clock = { timeZone, now: new Date() };
  const since = instant(options.since, '--since', clock);
  const until = options.until === undefined ? clock.now : instant(options.until, '--until', clock);
  // Vendors count time from 1970 and refuse earlier instants with messages that do not say so.
  if (since.getTime() < 0) throw refusal('--since must be 1970-01-02 or later.');
  if (since >= until) throw refusal('--since must be before --until.');
  return { since, until };
}

/**
 * The vendor's changes up to now, page by page, waiting where the quota asks for it. Pages are in the order of the last change: a
 * closing of the period may come after records that were closed later.
 */
export async function* pagesOf(
  { name, source }: { name: string; source: Source },
  from: { cursor: string } | { since: Date },
  shown: Progress,
): AsyncGenerator<PollPage> {
  let at = from;
  const watch = pageWatch(`the past of ${name}`, mostPages);
  for (;;) {
    try {
      const page = await source.poll?.(at);
      if (!page) return;
      yield page;
      if (page.done) return;
      watch(page.cursor);
      at = { cursor: page.cursor };
    } catch (error) {
      const advice = adviceOf(error);
      if (advice.kind !== 'transient' || advice.throttled !== true) throw error;
      shown.say(`waiting for the vendor's quota …`);
      await livePorts.sleep(Math.min(longestWaitMs, advice.retryAfterMs ?? 10_000));
    }
  }
}

/** The closings on this page of a poll that lie in the period. */
export function closingsOn(page: PollPage, { since, until }: Period): RecordEvent[] {
  return page.events.flatMap((event) =>
    event.kind === 'closed' && event.at >= since && event.at <= until ? [event] : [],
  );
}
