import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { liveClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { engineOf } from './engine-of.ts';
import { openRuntime, type RuntimeOptions } from './runtime.ts';

/**
 * Collects the grades of every campaign now and writes them back, then ends. Nothing else runs here, and what is stopped
 * stays stopped. 1 when that is part of it.
 */
export async function collectOnce(options: RuntimeOptions): Promise<number> {
  const runtime = await openRuntime(options);
  const log = createLog({ pretty: process.stdout.isTTY ?? false, level: 'info' });
  const engine = engineOf(runtime, { clock: liveClock, log });
  const queues = engine.gradeStages.map(({ queue }) => queue);
  try {
    for (const stage of engine.gradeStages) stage.start();
    await engine.collectNow();
    while (await isAnyBusy(queues)) await sleep(100);
    const paused = await Promise.all(queues.map((queue) => queue.isPaused()));
    if (!paused.includes(true)) return 0;
    log.error({ paused: await engine.paused() }, 'stopped: nothing is lost, somebody has to act');
    return 1;
  } finally {
    await engine.close(25_000);
    await runtime.close();
  }
}

/** Looks in the order of the work: a job of one queue adds to the next before it ends. Jobs of a stopped queue wait for a person. */
async function isAnyBusy(queues: readonly Queue[]): Promise<boolean> {
  for (const queue of queues) {
    const waiting = (await queue.isPaused()) ? [] : (['waiting', 'prioritized'] as const);
    if ((await queue.getJobCountByTypes('active', ...waiting)) > 0) return true;
  }
  return false;
}
