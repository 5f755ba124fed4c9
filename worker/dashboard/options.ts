import type { Log } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import type { DashboardSettings } from '../config/dashboard.ts';
import type { Engine } from '../pipeline/engine.ts';
import type { RedisClient } from '../redis/client.ts';
import type { Seal } from '../redis/seal.ts';

/** What the pages show and act on: the process' own. */
export interface DashboardOptions {
  /** Another one after a reload. */
  engine: () => Engine;
  config: () => Config;
  /** Who may log in: others after a reload. */
  settings: () => DashboardSettings;
  redis: RedisClient;
  /** The installation's. */
  seal: Seal;
  /** The loop's clock. */
  now: () => Date;
  log: Log;
}
