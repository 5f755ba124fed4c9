import type { Queue } from 'bullmq';
import { longestWaitMs } from '../../core/retry.ts';
import { promote } from '../operations/holds.ts';
import type { Outage } from '../operations/outage.ts';
import type { PausableStep } from '../operations/pausable-steps.ts';
import type { Pause, Pauses } from '../operations/pauses.ts';
import { liftWaits } from '../redis/budget.ts';
import type { RedisClient } from '../redis/client.ts';
import { firstDelayed } from '../redis/queued-jobs.ts';

interface Resumable {
  redis: RedisClient;
  pauses: Pauses;
  vendor: Outage;
  service: Outage;
  /** The name of the budget of its vendor's account. */
  account: string;
}

/** How many jobs are tried at once. The other jobs are tried by themselves within `longestWaitMs`. */
const mostPromoted = 1_000;

/**
 * Resumes a step of a source for a person, and ends every wait that the service or the source's vendor asked for: each is tried at once.
 * @returns the pauses that were in force until now, and which endpoints had not been called
 */
export async function resumeStep(
  { redis, pauses, vendor, service, account }: Resumable,
  step: PausableStep,
  queue?: Queue,
): Promise<{ paused: Pause[]; waitedFor: string[] }> {
  const waitedFor: string[] = [];
  for (const endpoint of [service, vendor]) if (await endpoint.lift()) waitedFor.push(endpoint.endpoint);
  await liftWaits(redis, account);
  const paused = await pauses.resume(step, queue);
  if (queue) await promoteSoon(redis, queue);
  return { paused, waitedFor };
}

/** Queues the jobs that wait no longer than the longest wait for an endpoint. A job that waits for something else finds its wait not over, and waits again. */
async function promoteSoon(redis: RedisClient, queue: Queue): Promise<void> {
  const until = new Date(Date.now() + longestWaitMs);
  const of = { prefix: queue.opts.prefix ?? '', name: queue.name };
  for (const id of await firstDelayed(redis, of, { until, most: mostPromoted })) await promote(queue, id);
}
