import { CloseloopError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import { campaignNumbers } from '../config/campaign-choice.ts';
import type { CollectJob } from '../pipeline/jobs.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { RedisClient } from '../redis/client.ts';
import { askedInKey, globalTag, passKey, seenKey, tagOf } from '../redis/keys.ts';
import type { SourceNames } from '../redis/source-names.ts';
import type { KnownSources } from './known-sources.ts';
import { moveJobs, runningJobs } from './move-jobs.ts';
import { keysOf, moveKeys } from './move-keys.ts';

interface RenameOptions {
  redis: RedisClient;
  names: SourceNames;
  known: KnownSources;
  from: SourcePipeline;
  to: SourcePipeline;
  /** Every source that Redis knows: the rename waits for erasures in all of them. */
  all: readonly SourcePipeline[];
  /** The collecting of grades. */
  collect: Stage<typeof CollectJob>;
  ports: Pick<Ports, 'sleep'>;
  progress: (text: string) => void;
}

export interface Renamed {
  keys: number;
  jobs: number;
  journeys: number;
}

const retryMs = 200;

/**
 * Moves all stored data of a source to another name. Meanwhile no job of either source is run, and work over all sources waits. In a
 * cluster the names lie on different nodes, so keys are copied and then removed. After an interruption the same call continues; after
 * the end it changes nothing.
 */
export async function renameSource(options: RenameOptions): Promise<Renamed> {
  const { names, from, to, ports, progress } = options;
  const [old, now] = [from.context.name, to.context.name];
  await names.begin(old, now);
  await check(options);
  for (;;) {
    const running = await jobsRunning(options);
    if (running === 0) break;
    progress(`waiting for ${running} running ${running === 1 ? 'job' : 'jobs'} to end`);
    await ports.sleep(retryMs);
  }
  await to.pauses.takeOver(
    from.pauses,
    Object.values(to.jobs).map(({ queue }) => queue),
  );
  const jobs = await moveJobs(options.redis, from, to);
  const keys = await moveAll(options);
  const counts = await to.context.store.queries.counts();
  const journeys = Object.values(counts).reduce((sum, n) => sum + n, 0);
  await readAllAgain(options);
  await options.known.remove(old);
  await options.redis.del(beforeKey(now));
  await names.end(old, now);
  return { keys, jobs, journeys };
}

/** The keys at the new name before the move, to distinguish them from moved keys. */
const beforeKey = (name: string): string => `${tagOf(name)}:before-rename`;

/** Two sources with journeys can't be joined: both may have a record, and number its closings differently. */
async function check({ redis, names, from, to }: RenameOptions): Promise<void> {
  const [old, now] = [from.context.name, to.context.name];
  const moving = await names.moving(old);
  if (moving && moving.to !== now) throw refusal(`Source ${old} is being renamed to ${moving.to}: end that first`);
  if (moving?.isChecked) return;
  const counts = await to.context.store.queries.counts();
  if (Object.values(counts).some((n) => n > 0)) {
    await names.undo(old, now);
    throw refusal(
      `Source ${now} has journeys of its own, and ${old} can't be added to it: rename ${old} to a name that is new. Kept both, what rules of both choose is asked about twice`,
    );
  }
  for await (const key of keysOf(redis, `${tagOf(now)}:`)) await redis.sadd(beforeKey(now), key);
  await names.noteChecked(old, now);
}

async function jobsRunning({ redis, from, to, all, collect }: RenameOptions): Promise<number> {
  let running = await runningJobs(redis, globalTag, [collect.jobs.queue]);
  for (const pipeline of all) {
    const isOne = pipeline === from || pipeline === to;
    const queues = (isOne ? Object.values(pipeline.jobs) : [pipeline.jobs.erase]).map(({ queue }) => queue);
    running += await runningJobs(redis, tagOf(pipeline.context.name), queues);
  }
  return running;
}

/** Keys that are not moved: jobs are moved by `moveJobs`; fences of collecting passes, locks and other short-lived keys expire. */
const notMoved = /^(?:plan|ask|write-back|erase|pass|replicated|gate|newcomer|before-rename|paused)(?::|$)|:lock$/;

/** Intakes write to it under either name meanwhile: whose erasures are requested. */
const mergeable = /:erasures:forgotten$/;

async function moveAll({ redis, from, to, progress }: RenameOptions): Promise<number> {
  const before = new Set(await redis.smembers(beforeKey(to.context.name)));
  const wasThere = (key: string) => before.has(key) || mergeable.test(key);
  const moved = (count: number) => progress(`${count} keys moved`);
  return await moveKeys(redis, `${tagOf(from.context.name)}:`, { target: targetOf(from, to), wasThere, moved });
}

function targetOf(from: SourcePipeline, to: SourcePipeline): (key: string) => string | undefined {
  const [old, now] = [`${tagOf(from.context.name)}:`, `${tagOf(to.context.name)}:`];
  return (key) => (notMoved.test(key.slice(old.length)) ? undefined : now + key.slice(old.length));
}

/** Moves what came in under an old name after the rename: jobs, and the data they need. @returns the number of jobs */
export async function moveStragglers(redis: RedisClient, from: SourcePipeline, to: SourcePipeline): Promise<number> {
  const queues = Object.values(from.jobs).map(({ queue }) => queue);
  const counts = await Promise.all(queues.map((queue) => queue.getJobCountByTypes('waiting', 'active', 'delayed')));
  if (counts.every((n) => n === 0)) return 0;
  await moveKeys(redis, `${tagOf(from.context.name)}:`, {
    target: targetOf(from, to),
    wasThere: async (key) => (await redis.exists(key)) === 1,
    moved: () => undefined,
  });
  return await moveJobs(redis, from, to);
}

/** Makes the next passes read everything: a pass may have met an answer while its journey was being moved. */
async function readAllAgain({ redis, all }: RenameOptions): Promise<void> {
  const asked = await redis.zrange(askedInKey, '0', '-1');
  const ofRules = campaignNumbers(all.flatMap(({ context }) => context.rules));
  for (const campaign of new Set([...asked.map(Number), ...ofRules]))
    await redis.del(seenKey(campaign), passKey(campaign));
}

function refusal(message: string): CloseloopError {
  return new CloseloopError(`${message}.`, { kind: 'config' });
}
