import type { JourneyQueries } from '../journey/queries.ts';
import type { RedisClient } from '../redis/client.ts';
import { queuedJobs } from '../redis/queued-jobs.ts';

/** What of an orphan waits for a person. */
export interface OrphanState {
  /** Customers that are to be asked, or may have been. */
  waiting: number;
  /** Customers that were asked: their grades are collected all the same. */
  asked: number;
  /** Grades that can't be written back. */
  answered: number;
  /** Deliveries that can't be planned. */
  deliveries: number;
  /** Journeys in all. */
  journeys: number;
}

export async function stateOf(
  { name, store }: { name: string; store: { queries: Pick<JourneyQueries, 'counts'> } },
  redis: RedisClient,
): Promise<OrphanState> {
  const [counts, ...jobs] = await Promise.all([
    store.queries.counts(),
    ...['plan', 'erase'].map((queue) => queuedJobs(redis, name, queue)),
  ]);
  return {
    waiting: counts.received + counts.waiting + counts.creating,
    asked: counts.asked,
    answered: counts.answered,
    deliveries: jobs.reduce((sum, n) => sum + n, 0),
    journeys: Object.values(counts).reduce((sum, n) => sum + n, 0),
  };
}

export function orphanRemedy(name: string): string {
  return `put it back into the configuration; where it has another name there now: "closeloop source rename ${name} <new name>"`;
}

/** A sentence on what waits; undefined when nothing does. */
export function whatWaits(state: OrphanState): string | undefined {
  const { waiting, asked, answered, deliveries } = state;
  const waits = [
    ...(deliveries > 0 ? [`${deliveries} events wait to be planned`] : []),
    ...(waiting > 0 ? [`${waiting} journeys wait to ask`] : []),
    ...(answered > 0 ? [`${answered} grades wait to be written back`] : []),
    ...(asked > 0 ? [`${asked} customers may still answer`] : []),
  ];
  return waits.length === 0 ? undefined : waits.join(', ');
}
