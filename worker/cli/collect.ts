import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import type { JourneyState } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import { createLog } from '../operations/log.ts';
import { liveClock } from '../pipeline/clock.ts';
import type { Engine } from '../pipeline/engine.ts';
import { checkAccount } from './check-account.ts';
import { engineOf } from './engine-of.ts';
import { openForNow, type RuntimeOptions } from './runtime.ts';
import { lineOf, Tally } from './tally.ts';

/**
 * Collects the grades of every campaign now, writes them back, then ends. No other step runs in this process, and stopped stages stay
 * stopped; returns 1 when a stage that it needs is stopped. Prints the journeys whose answers came or were written meanwhile, by
 * any process.
 */
export async function collectOnce(options: RuntimeOptions & { json: boolean }): Promise<number> {
  const runtime = await openForNow(options);
  const log = createLog({ pretty: process.stderr.isTTY ?? false, level: 'warn', stream: process.stderr });
  const engine = await checkAccount(runtime)
    .then(() => engineOf(runtime, { clock: liveClock, log }))
    .catch(async (error: unknown) => {
      await runtime.close();
      throw error;
    });
  const queues = engine.gradeStages.map(({ jobs }) => jobs.queue);
  const begun = liveClock.now();
  try {
    for (const stage of engine.gradeStages) stage.start();
    await engine.collecting.now();
    while (await isAnyBusy(queues)) await sleep(100);
    const tally = await answersSince(begun, engine);
    const paused = await Promise.all(queues.map((queue) => queue.isPaused()));
    const rows = tally.rows();
    const shown = rows.map(({ ids, ...row }) => ({ ...row, journeys: ids }));
    const lines = rows.map((row) => lineOf(row.state, row)).join('\n') || 'No new grades.';
    process.stdout.write(`${options.json ? JSON.stringify({ answers: shown }) : lines}\n`);
    if (!paused.includes(true)) return 0;
    log.error({ paused: await engine.paused() }, 'stopped: nothing is lost, somebody has to act');
    return 1;
  } finally {
    await engine.close(25_000);
    await runtime.close();
  }
}

/** The states that a journey with an answer may be in. */
const answeredStates = ['written', 'answered', 'failed', 'parked'] as const;

async function answersSince(begun: Date, { pipelines }: Engine): Promise<Tally<{ state: JourneyState }>> {
  const tally = new Tally<{ state: JourneyState }>();
  for (const { context } of pipelines.values()) {
    for (const state of answeredStates) {
      // Last changed first.
      for await (const { id, answer, updatedAt } of context.store.queries.newest([state])) {
        if (updatedAt < begun) break;
        if (answer) tally.add({ state }, refOf(context.name, id));
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
