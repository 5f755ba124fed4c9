import { setTimeout as sleep } from 'node:timers/promises';
import type { Ports } from '../../core/ports.ts';
import { Engine, type EngineOptions } from '../engine.ts';
import type { Runtime } from './runtime.ts';

export const livePorts: Ports = {
  fetch: globalThis.fetch,
  now: () => new Date(),
  random: Math.random,
  sleep: (ms) => sleep(ms),
};

/** The loop over a runtime's configuration and Redis, idle until `openInlets` or `work`. */
export function engineOf(
  { config, handle, redis }: Runtime,
  options: Pick<EngineOptions, 'clock' | 'log' | 'batchWindowMs' | 'sweepEveryMs' | 'quarantine'>,
): Engine {
  return new Engine({
    config,
    redis,
    connection: handle.bull(),
    intakeConnection: handle.bullIntake,
    replicated: handle.replicated,
    ports: livePorts,
    ...options,
  });
}
