import { setTimeout as sleep } from 'node:timers/promises';
import type { Ports } from '../../core/ports.ts';
import { Engine } from '../pipeline/engine.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import { DataKey, operatorKeys } from '../redis/data-key.ts';
import { globalTag } from '../redis/keys.ts';
import { verifyAccount } from '../sources/account.ts';
import type { Runtime } from './runtime.ts';

export const livePorts: Ports = {
  fetch: globalThis.fetch,
  now: () => new Date(),
  random: Math.random,
  sleep: (ms) => sleep(ms),
};

export async function dataKeyOf({ config, handle, redis, ownKey }: Runtime): Promise<DataKey> {
  return await DataKey.open(redis, operatorKeys(config, ownKey), () => handle.replicated(globalTag));
}

/** @throws CloseloopError config when Redis belongs to another account of the service: account.ts */
export async function checkAccount(runtime: Runtime, options: { adopt?: boolean } = {}): Promise<void> {
  const { seal } = await dataKeyOf(runtime);
  await verifyAccount(runtime.config, { redis: runtime.redis, seal, ports: livePorts, ...options });
}

/** The loop over a runtime's configuration and Redis, idle until `openInlets` or `work`. Resolves when Redis answers. */
export async function engineOf(
  runtime: Runtime,
  options: Pick<EngineOptions, 'clock' | 'log' | 'batchWindowMs' | 'sweepEveryMs' | 'quarantine' | 'vendorTime'>,
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
