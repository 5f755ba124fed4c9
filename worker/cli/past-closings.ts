import type { PollPage, RecordEvent, Source } from '../../core/connector/contract.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import { adviceOf, refusal } from '../../core/errors.ts';
import { longestWaitMs } from '../../core/retry.ts';
import { mostPages } from '../pipeline/plan/poll.ts';
import { instant, refuseReversed } from '../support/instant.ts';
import { livePorts } from './live-ports.ts';
import type { Progress } from './progress.ts';

export interface Period {
  since: Date;
  until: Date;
}

/** @throws CloseloopError config for a period that ends before it begins, or begins before 1970 */
export function periodOf(options: { since: string; until?: string | undefined }, timeZone: string): Period {
  const clock = { timeZone, now: new Date() };
  const since = instant(options.since, '--since', clock);
  const until = options.until === undefined ? clock.now : instant(options.until, '--until', clock);
  // Vendors count time from 1970 and refuse earlier instants with messages that do not say so.
  if (since.getTime() < 0) throw refusal('--since must be 1970-01-02 or later.');
  if (since > clock.now) throw refusal('--since is in the future: nothing has closed since then.');
  refuseReversed(since, until);
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
