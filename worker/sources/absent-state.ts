import type { JourneyQueries } from '../journey/queries.ts';
import type { RedisClient } from '../redis/client.ts';
import { queuedJobs } from '../redis/queued-jobs.ts';

/** The stored data of a source that is in no configuration, and how much of it waits. */
export interface AbsentState {
  journeys: number;
  /** Journeys that wait to be asked, to be answered or to be written back. */
  waiting: number;
  /** Deliveries that can't be planned, and erasures. */
  deliveries: number;
}

export async function stateOf(
  { storedAs, store }: { storedAs: string; store: { queries: Pick<JourneyQueries, 'counts'> } },
  redis: RedisClient,
): Promise<AbsentState> {
  const [counts, ...jobs] = await Promise.all([
    store.queries.counts(),
    ...['plan', 'erase'].map((queue) => queuedJobs(redis, storedAs, queue)),
  ]);
  return {
    journeys: Object.values(counts).reduce((sum, n) => sum + n, 0),
    waiting: counts.received + counts.waiting + counts.creating + counts.asked + counts.answered,
    deliveries: jobs.reduce((sum, n) => sum + n, 0),
  };
}

/** A sentence about the source for a person; undefined where nothing waits. */
export function absenceOf(
  name: string,
  { waiting, deliveries }: AbsentState,
): { problem: string; remedy: string } | undefined {
  if (waiting + deliveries === 0) return undefined;
  return {
    problem: `source ${name} is not in this configuration: ${waiting} of its journeys and ${deliveries} of its deliveries wait`,
    remedy: `put it back; where it has another name now, write "was: ${name}" there, or "closeloop source rename ${name} <new name>"`,
  };
}
