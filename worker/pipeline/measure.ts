import type { Measured } from '../operations/prometheus.ts';
import { remainingQuotas } from '../redis/budget.ts';
import type { RedisClient } from '../redis/client.ts';
import { nameInEarnest } from '../redis/keys.ts';
import { queueDepth } from '../redis/queued-jobs.ts';
import type { Engine } from './engine.ts';
import { outgoing } from './sending.ts';
import type { SourcePipeline } from './source-pipeline.ts';

/** Measures the data of the configured sources in Redis, with a fixed number of commands for each source, however much is stored. */
export async function measure(engine: Engine, redis: RedisClient): Promise<Measured> {
  const pipelines = [...engine.pipelines.values()];
  const queues = pipelines.flatMap(({ context, jobs }) =>
    Object.values(jobs).map((queue) => ({ source: context.name, queue })),
  );
  const passedOn = engine.sending.stages.map(({ jobs: queue }) => ({ source: outgoing, queue }));
  const [sources, depths, paused] = await Promise.all([
    Promise.all(pipelines.map((pipeline) => measureSource(pipeline, redis))),
    Promise.all(
      [...queues, { source: 'collect', queue: engine.collecting.stage.jobs }, ...passedOn].map((one) =>
        measureQueue(one, redis),
      ),
    ),
    engine.paused(),
  ]);
  const stopped = Object.entries(paused).flatMap(([source, list]) =>
    // The label of 'ask, campaign 12' is only the step, as there is no limit to the number of campaigns and rules.
    list.map(({ stage }) => ({ source, step: stage.split(',')[0] ?? stage })),
  );
  return { sources, queues: depths, stopped };
}

async function measureSource({ context }: SourcePipeline, redis: RedisClient): Promise<Measured['sources'][number]> {
  const { name: source, account = nameInEarnest(context.storedAs), store, clock } = context;
  const [journeys, due, quotas] = await Promise.all([
    store.lists.counts(),
    store.lists.firstIn('waiting'),
    remainingQuotas(redis, account, new Date()),
  ]);
  return { source, journeys, overdueSeconds: secondsSince(due, clock.now()), quotas };
}

async function measureQueue(
  { source, queue }: { source: string; queue: { options: { prefix: string; name: string } } },
  redis: RedisClient,
) {
  const { options } = queue;
  const { waiting, running, delayed, failed, oldestAt } = await queueDepth(redis, options);
  const jobs = { waiting, active: running, delayed, failed };
  return { source, step: options.name, jobs, oldestSeconds: secondsSince(oldestAt, new Date()) };
}

function secondsSince(at: Date | undefined, now: Date): number {
  return at === undefined ? 0 : Math.max(0, now.getTime() - at.getTime()) / 1_000;
}
