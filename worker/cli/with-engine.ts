import { liveClock } from '../pipeline/clock.ts';
import { Engine } from '../pipeline/engine.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import { refuseUnsafeRedis } from '../redis/check-redis.ts';
import type { DataKey } from '../redis/data-key.ts';
import { nameInEarnest } from '../redis/keys.ts';
import { withStoredNames } from '../sources/stored-names.ts';
import { livePorts } from './live-ports.ts';
import {
  checkAccount,
  commandLog,
  dataKeyOf,
  named,
  openForNow,
  openToRead,
  type Runtime,
  type RuntimeOptions,
} from './runtime.ts';

/**
 * The loop over a runtime's configuration and Redis, idle until `openIngestion` or `work`. Resolves when Redis answers.
 * @param begins work begins here: renames that the configuration tells of are remembered
 */
export async function engineOf(
  runtime: Runtime,
  options: Pick<
    EngineOptions,
    'clock' | 'log' | 'batchWindowMs' | 'sweepEveryMs' | 'jobsAtOnce' | 'vendorTime' | 'observer' | 'tracing'
  >,
  { key, begins = false }: { key?: DataKey; begins?: boolean } = {},
): Promise<Engine> {
  const { handle, redis } = runtime;
  const { seal } = key ?? (await dataKeyOf(runtime));
  const config = await withStoredNames(runtime.config, redis, { remember: begins });
  runtime.config = config;
  return new Engine({
    config,
    redis,
    seal,
    connection: handle.bull(),
    intakeConnection: handle.bullIntake,
    replicated: handle.replicated,
    ports: livePorts,
    ...options,
  });
}

export interface Sources {
  runtime: Runtime;
  engine: Engine;
  /** @throws CloseloopError config for a name that isn't in the configuration */
  pipeline(name: string): SourcePipeline;
  /** The one named, or all. */
  pipelines(name?: string): SourcePipeline[];
}

/**
 * The configured sources, for a command beside the loop: no job runs in this process unless the command starts it; the workers run what it
 * queues. `reads`: refuses an installation that has never run; `only`: reads nothing but Redis. `verified` false: the command looks itself
 * whether the account is the installation's. `graceMs`: how long jobs of this process get to end. `onRedis`: refuses a Redis that a start
 * refuses, before queues that are opened complain of it one by one; it is told the warnings.
 */
export async function withSources<T>(
  options: RuntimeOptions & {
    reads?: boolean | 'only';
    verified?: boolean;
    graceMs?: number;
    onRedis?: (why: string) => void;
  },
  work: (sources: Sources) => Promise<T>,
): Promise<T> {
  const { reads = false, verified = true, graceMs = 0, onRedis } = options;
  const runtime = await (reads ? openToRead(options, reads === 'only' ? { uses: 'redis' } : {}) : openForNow(options));
  try {
    if (onRedis) await refuseUnsafeRedis(runtime.redis, onRedis);
    // A command that only reads Redis makes no call to the service, and may not have its key.
    if (verified && reads !== 'only') await checkAccount(runtime);
    const engine = await engineOf(runtime, { clock: liveClock, log: commandLog() });
    const all = [...engine.pipelines].map(([name, pipeline]) => ({ name: nameInEarnest(name), pipeline }));
    const pipeline = (name: string) => named('source', nameInEarnest(name), all).pipeline;
    const pipelines = (name?: string) => (name === undefined ? [...engine.pipelines.values()] : [pipeline(name)]);
    try {
      return await work({ runtime, engine, pipeline, pipelines });
    } finally {
      await engine.close(graceMs);
    }
  } finally {
    await runtime.close();
  }
}
