import type { Config } from '../config/config.ts';
import { dryRunName } from '../redis/keys.ts';

/** The configuration of a dry run: its sources have other names in Redis, and nobody is alerted, as nothing concerns a customer. */
export function asDryRun(config: Config): Config {
  const sources = config.sources.map((source) => ({ ...source, name: dryRunName(source.name) }));
  return { ...config, sources, alerts: undefined, dryRun: true };
}
