import type { Log } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import type { Engine } from '../pipeline/engine.ts';

/** What the pages show and act on: the process' own. */
export interface DashboardOptions {
  /** Another one after a reload. */
  engine: () => Engine;
  config: () => Config;
  /** The loop's clock. */
  now: () => Date;
  log: Log;
}
