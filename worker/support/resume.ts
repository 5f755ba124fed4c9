import type { Queue } from 'bullmq';
import { longestWaitMs } from '../../core/retry.ts';
import { type Holds, promote } from '../operations/holds.ts';
import type { Outage } from '../operations/outage.ts';
import type { PausableStep } from '../operations/pausable-steps.ts';
import type { Pause, Pauses } from '../operations/pauses.ts';
import { liftWaits } from '../redis/budget.ts';
import type { RedisClient } from '../redis/client.ts';
import { firstDelayed } from '../redis/queued-jobs.ts';

interface Resumable {
  redis: RedisClient;
  pauses: Pauses;
  holds: Pick<Holds, 'tryNow'>;
  vendor: Outage;
  service: Outage;
  /** The name of the budget of its vendor's account. */
  account: string;
}

/** How many jobs are tried at once. The other jobs are tried by themselves within `longestWaitMs`. */
const mostPromoted = 1_000;

/**
 * Resumes a step of a source for a person, and ends every wait that the service or the source's vendor asked for. Each is tried at once, and so is
 * what holds up jobs of the step.
 * @returns the pauses that were in force until now, and what else is tried at once: endpoints that had not been called, faulty parts
 */
export async function resumeStep(
  { redis, pauses, holds, vendor, service, account }: Resumable,
  step: PausableStep,
  queue?: Queue,
): Promise<{ paused: Pause[]; tried: string[] }> {
  const tried: string[] = [];
  for (const endpoint of [service, vendor]) if (await endpoint.lift()) tried.push(endpoint.endpoint);
  await liftWaits(redis, account);
  const paused = await pauses.resume(step, queue);
  if (queue) tried.push(...(await holds.tryNow(queue)));
  if (queue) await promoteSoon(redis, queue);
  return { paused, tried };
}

/** Queues the jobs that wait no longer than the longest wait for an endpoint. A job that waits for something else finds its wait not over, and waits again. */
async function promoteSoon(redis: RedisClient, queue: Queue): Promise<void> {
  const until = new Date(Date.now() + longestWaitMs);
  const of = { prefix: queue.opts.prefix ?? '', name: queue.name };
  for (const id of await firstDelayed(redis, of, { until, most: mostPromoted })) await promote(queue, id);
}
