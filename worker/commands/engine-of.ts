import { setTimeout as sleep } from 'node:timers/promises';
import type { Ports } from '../../core/ports.ts';
import { Engine, type EngineOptions } from '../engine.ts';
import { openSeal, operatorKeys } from '../redis/data-key.ts';
import type { Runtime } from './runtime.ts';

export const livePorts: Ports = {
  fetch: globalThis.fetch,
  now: () => new Date(),
  random: Math.random,
  sleep: (ms) => sleep(ms),
};

/** The loop over a runtime's configuration and Redis, idle until `openInlets` or `work`. Resolves when Redis answers. */
export async function engineOf(
  { config, handle, redis, ownKey }: Runtime,
  options: Pick<EngineOptions, 'clock' | 'log' | 'batchWindowMs' | 'sweepEveryMs' | 'quarantine' | 'vendorTime'>,
): Promise<Engine> {
  const seal = await openSeal(redis, operatorKeys(config, ownKey), () => handle.replicated('{cl}'));
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
