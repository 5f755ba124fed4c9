import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { refOf } from '../journey/refs.ts';
import { liveClock } from '../pipeline/clock.ts';
import type { Engine } from '../pipeline/engine.ts';
import { print } from './output.ts';
import { type CommandOptions, commandLog } from './runtime.ts';
import { Tally } from './tally.ts';
import { withSources } from './with-engine.ts';

/**
 * Collects the grades of every campaign now, writes them back, then ends. No other step runs in this process, and stopped stages stay
 * stopped; returns 1 when a stage that it needs is stopped. Prints the journeys whose answers came or were written meanwhile, by
 * any process.
 */
export async function collectOnce(options: CommandOptions): Promise<number> {
  return await withSources({ ...options, graceMs: 25_000 }, async ({ engine }) => {
    const queues = engine.gradeStages.map(({ jobs }) => jobs.queue);
    const begun = liveClock.now();
    for (const stage of engine.gradeStages) stage.start();
    await engine.collecting.now();
    while (await isAnyBusy(queues)) await sleep(100);
    const tally = await answersSince(begun, engine);
    const paused = await Promise.all(queues.map((queue) => queue.isPaused()));
    print(options, { answers: tally.rows() }, tally.text('No new grades.'));
    if (!paused.includes(true)) return 0;
    commandLog().error({ paused: await engine.paused() }, 'stopped: nothing is lost, somebody has to act');
    return 1;
  });
}

/** The states that a journey with an answer may be in. */
const answeredStates = ['written', 'answered', 'failed', 'parked'] as const;

async function answersSince(begun: Date, { pipelines }: Engine): Promise<Tally> {
  const tally = new Tally('state');
  for (const { context } of pipelines.values()) {
    for (const state of answeredStates) {
      // Last changed first.
      for await (const { id, answer, updatedAt } of context.store.queries.newest([state])) {
        if (updatedAt < begun) break;
        if (answer) tally.add(state, refOf(context.name, id));
      }
    }
  }
  return tally;
}

/** Counts in the order of the work: a job adds to the next queue before it ends. Jobs of a stopped queue wait for a person. */
async function isAnyBusy(queues: readonly Queue[]): Promise<boolean> {
  for (const queue of queues) {
    const waiting = (await queue.isPaused()) ? [] : (['waiting', 'prioritized'] as const);
    if ((await queue.getJobCountByTypes('active', ...waiting)) > 0) return true;
  }
  return false;
}
