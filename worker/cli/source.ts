import type { Queue } from 'bullmq';
import { refusal } from '../../core/errors.ts';
import { type PausableStep, pausableSteps } from '../operations/pausable-steps.ts';
import type { Pause } from '../operations/pauses.ts';
import { budgetAccount } from '../redis/budget.ts';
import type { RedisClient } from '../redis/client.ts';
import { nameInEarnest, tagOf } from '../redis/keys.ts';
import { knownSources } from '../sources/known-sources.ts';
import { renameSource as rename } from '../sources/stored-names.ts';
import { resumeStep } from '../support/resume.ts';
import { print } from './output.ts';
import { type CommandOptions, openToRead, whoIAm } from './runtime.ts';
import { type Stored, type StoredSource, withQueue, withStored } from './with-stored.ts';

/** Lets a source of the configuration continue with the data that is stored under its old name. */
export async function renameSource(options: CommandOptions & { from: string; to: string }): Promise<number> {
  const { from, to } = options;
  const runtime = await openToRead(options, { uses: 'redis' });
  try {
    const target = runtime.config.sources.find(({ name }) => name === to);
    if (!target || runtime.config.sources.some(({ name }) => name === from)) {
      throw refusal(
        `The configuration has to have source "${to}" in place of "${from}": write the new name there first.`,
      );
    }
    const isNew = await rename(from, target, runtime.redis);
    const line = isNew
      ? `Source ${from} is called ${to} now: start "closeloop start" anew where it runs. Deliveries to /hooks/${from} are taken for it; "closeloop setup" makes webhooks to /hooks/${to}: then delete those to /hooks/${from} at the vendor.`
      : `Source ${from} is called ${to} already.`;
    print(options, { source: to, was: from, already: !isNew }, line);
    return 0;
  } finally {
    await runtime.close();
  }
}

type SourceOptions = CommandOptions & {
  name: string;
  /** Left out: all steps. */
  step?: PausableStep;
};

/** Pauses a source in all processes: no further job of it begins; deliveries are stored and wait. */
export async function pauseSource(options: SourceOptions & { why?: string }): Promise<number> {
  const { name, why = 'no reason was given' } = options;
  const mine = { why, by: whoIAm(), at: new Date() };
  return await onSteps(options, async ({ pauses }, step, queue) => {
    const pause = await pauses.pause(step, mine, queue);
    const isMine = pause.at.getTime() === mine.at.getTime() && pause.by === mine.by;
    return {
      shown: { source: name, step, already: !isMine, since: pause.at, why: pause.why, by: pause.by },
      line: isMine
        ? `${name}: ${step} is paused. What runs already ends; what comes in is stored and waits.`
        : `${name}: ${step} is paused already, since ${pause.at.toISOString()} by ${pause.by}: ${pause.why}`,
    };
  });
}

export async function resumeSource(options: SourceOptions): Promise<number> {
  const { name } = options;
  return await onSteps(options, async (source, step, queue, { runtime: { redis }, service }) => {
    const account = await accountOf(source, redis);
    const { paused, tried } = await resumeStep({ ...source, redis, service, account }, step, queue);
    const was = paused.map(({ at, why, by }) => ({ since: at, why, by }));
    const trying = tried.map((what) => ` ${what}: tried at once.`).join('');
    return {
      shown: { source: name, step, was, ...(tried.length > 0 && { triedAtOnce: tried }) },
      line: `${name}: ${step} ${paused.length === 0 ? 'was not paused.' : paused.map(resumed).join(', and ')}${trying}`,
    };
  });
}

/** The name of the budget of the source's account, as its workers know it. */
async function accountOf(source: StoredSource, redis: RedisClient): Promise<string> {
  const name = nameInEarnest(source.storedAs);
  const known = (await knownSources(redis)).find(({ storedAs }) => storedAs === name);
  return known?.account === undefined ? name : budgetAccount(known.connector, known.account);
}

function resumed({ by, why }: Pause): string {
  return by === undefined ? `is tried again at once, which stopped for: ${why}` : 'goes on.';
}

async function onSteps(
  options: SourceOptions,
  work: (
    source: StoredSource,
    step: PausableStep,
    queue: Queue | undefined,
    stored: Stored,
  ) => Promise<{ shown: object; line: string }>,
): Promise<number> {
  return await withStored(options, async (stored) => {
    const { timeZone } = stored.runtime.config.feedback;
    for (const source of stored.sources(options.name)) {
      for (const step of options.step === undefined ? pausableSteps : [options.step]) {
        // Grades are collected for all sources together, without a queue of a source.
        const { shown, line } =
          step === 'collect'
            ? await work(source, step, undefined, stored)
            : await withQueue(stored.runtime, { prefix: tagOf(source.storedAs), name: step }, (queue) =>
                work(source, step, queue, stored),
              );
        print({ ...options, timeZone }, shown, line);
      }
    }
    return 0;
  });
}
