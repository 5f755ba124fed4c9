import type { Log } from '../../core/ports.ts';
import { Alerts, alertSettings } from '../operations/alerts.ts';
import { livePorts } from './live-ports.ts';
import type { Runtime } from './runtime.ts';

/** The alerts of this process, sent as its present configuration says. */
export function alertsOf({ redis, config }: Pick<Runtime, 'redis' | 'config'>, log: Log): Alerts {
  return new Alerts(redis, alertSettings(config), livePorts, log);
}
