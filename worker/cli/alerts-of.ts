import type { Log } from '../../core/ports.ts';
import { Alerts } from '../operations/alerts.ts';
import type { Runtime } from './runtime.ts';

/** Of the process as a whole, by the configuration that it has now. */
export function alertsOf({ redis, config }: Pick<Runtime, 'redis' | 'config'>, log: Log): Alerts {
  return new Alerts(redis, config.alerts, { fetch: globalThis.fetch, now: () => new Date() }, log);
}
