import { Engine } from '../pipeline/engine.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import type { DataKey } from '../redis/data-key.ts';
import { livePorts } from './live-ports.ts';
import { dataKeyOf, type Runtime } from './runtime.ts';

/** The loop over a runtime's configuration and Redis, idle until `openInlets` or `work`. Resolves when Redis answers. */
export async function engineOf(
  runtime: Runtime,
  options: Pick<
    EngineOptions,
    | 'clock'
    | 'log'
    | 'batchWindowMs'
    | 'sweepEveryMs'
    | 'jobsAtOnce'
    | 'quarantine'
    | 'vendorTime'
    | 'observer'
    | 'tracing'
  >,
  key?: DataKey,
): Promise<Engine> {
  const { config, handle, redis } = runtime;
  const { seal } = key ?? (await dataKeyOf(runtime));
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
