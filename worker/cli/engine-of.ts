import { Engine } from '../pipeline/engine.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import type { DataKey } from '../redis/data-key.ts';
import { withStoredNames } from '../sources/stored-names.ts';
import { livePorts } from './live-ports.ts';
import { dataKeyOf, type Runtime } from './runtime.ts';

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
