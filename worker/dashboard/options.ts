import type { Log } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import type { DashboardSettings } from '../config/dashboard.ts';
import type { Engine } from '../pipeline/engine.ts';
import type { RedisClient } from '../redis/client.ts';
import type { Seal } from '../redis/seal.ts';

/** The parts of the process that the pages show and act on. */
export interface DashboardOptions {
  /** A reload replaces the engine. */
  engine: () => Engine;
  config: () => Config;
  /** The users who may log in, among other settings. A reload replaces them. */
  settings: () => DashboardSettings;
  redis: RedisClient;
  /** The installation's key. */
  seal: Seal;
  /** The loop's clock. */
  now: () => Date;
  log: Log;
}
