import type { ConfiguredSource } from '../config/config.ts';
import type { RedisClient } from '../redis/client.ts';
import { isDryRun } from '../redis/keys.ts';
import { absenceOf, stateOf } from '../sources/absent-state.ts';
import { mayBeSame } from '../sources/known-sources.ts';
import type { Absent } from './absent-sources.ts';

export interface Absence {
  source: string;
  problem: string;
  remedy: string;
}

/** The absent sources in which work waits, without the sources of dry runs. @param options `isNew`: whether the source has no journey yet */
export async function absencesOf(
  absent: readonly Absent[],
  options: {
    configured: readonly ConfiguredSource[];
    isNew: (source: ConfiguredSource) => Promise<boolean>;
    redis: RedisClient;
  },
): Promise<Absence[]> {
  const { configured, isNew, redis } = options;
  const found: Absence[] = [];
  for (const { known, pipeline } of absent) {
    const absence = absenceOf(known.name, await stateOf(pipeline.context, redis));
    if (absence === undefined || isDryRun(known.name)) continue;
    const alike: string[] = [];
    for (const one of configured) if (mayBeSame(known, one) && (await isNew(one))) alike.push(`"${one.name}"`);
    const { problem, remedy } = absence;
    const news = `; ${alike.join(', ')}, which is new here, may be the same account, and asks people whom ${known.name} has asked`;
    found.push({ source: known.name, problem: alike.length > 0 ? problem + news : problem, remedy });
  }
  return found;
}
