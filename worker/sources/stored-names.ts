import { CloseloopError } from '../../core/errors.ts';
import type { Config, ConfiguredSource } from '../config/config.ts';
import { journeyStates } from '../journey/journey.ts';
import { runningProcesses } from '../operations/processes.ts';
import type { RedisClient } from '../redis/client.ts';
import { isDryRun, knownSourcesKey, nameIn, nameInEarnest, storedAsKey, tagOf } from '../redis/keys.ts';
import { queuedJobs } from '../redis/queued-jobs.ts';
import { isAbsent, type KnownSource, knownSources, mayBeSame } from './known-sources.ts';

/*
 * A source's data is stored under its first name for ever. A rename stores one field in Redis: new name → first name. No key is moved, so a
 * rename can't be interrupted halfway, and processes that still use the earlier name work on the same data.
 */

/** Maps each name that a source was given later to the name that its data is stored under. Without dry runs. */
export async function storedNames(redis: RedisClient): Promise<ReadonlyMap<string, string>> {
  return new Map(Object.entries(await redis.hgetall(storedAsKey)));
}

/** The source that has, or had, this name. */
export async function sourceNamed<Known extends Pick<ConfiguredSource, 'name' | 'storedAs'>>(
  name: string,
  all: readonly Known[],
  redis: RedisClient,
): Promise<Known | undefined> {
  const own = all.find((one) => one.name === name);
  if (own) return own;
  const inEarnest = nameInEarnest(name);
  const first = (await storedNames(redis)).get(inEarnest) ?? inEarnest;
  const stored = nameIn(first, { dryRun: isDryRun(name) });
  return all.find(({ storedAs }) => storedAs === stored);
}

/**
 * Adds to each source of the configuration the name that its data is stored under. Takes `was` into account.
 * @param remember stores the renames, so that the configuration needs `was` no longer
 * @throws CloseloopError config for a rename that is refused, or two sources with the same data
 */
export async function withStoredNames(
  config: Config,
  redis: RedisClient,
  { remember }: { remember: boolean },
): Promise<Config> {
  const names = new Map(await storedNames(redis));
  for (const source of config.sources) {
    const name = nameInEarnest(source.name);
    if (source.was === undefined) continue;
    const renamed = await renamedFrom(source.was, { ...source, name }, { names, redis, isOpened: remember });
    if (renamed === undefined || renamed.storedAs === names.get(name)) continue;
    names.set(name, renamed.storedAs);
    if (remember && !config.dryRun) await rememberName(redis, name, renamed.storedAs);
  }
  const sources = config.sources.map((source) => {
    const name = nameInEarnest(source.name);
    return { ...source, storedAs: nameIn(names.get(name) ?? name, config) };
  });
  refuseShared(sources);
  return { ...config, sources };
}

/**
 * Renames a source: `to` goes on with the data of `from`.
 * @returns false if this rename was stored before
 * @throws CloseloopError config for a rename that is refused
 */
export async function renameSource(from: string, to: ConfiguredSource, redis: RedisClient): Promise<boolean> {
  const names = await storedNames(redis);
  const renamed = await renamedFrom(from, to, { names, redis, isOpened: true });
  if (renamed?.storedAs === (names.get(to.name) ?? to.name)) return false;
  if (renamed === undefined) {
    const known = (await knownSources(redis)).filter(({ name }) => name === nameInEarnest(name));
    const there = known.map(({ name }) => name).join(', ');
    throw refusal(`Redis knows no source "${from}"; it knows: ${there === '' ? 'none' : there}`);
  }
  await rememberName(redis, to.name, renamed.storedAs);
  return true;
}

async function rememberName(redis: RedisClient, name: string, storedAs: string): Promise<void> {
  await redis.hset(storedAsKey, name, storedAs);
  // `renamedFrom` has made sure that the new name has no data.
  if (name !== storedAs) await redis.hdel(knownSourcesKey, name);
}

/** The source that `to` was before; undefined if Redis knows no source named `from`. @param isOpened the connector of `to` was loaded */
async function renamedFrom(
  from: string,
  to: ConfiguredSource,
  { names, redis, isOpened }: { names: ReadonlyMap<string, string>; redis: RedisClient; isOpened: boolean },
): Promise<KnownSource | undefined> {
  const old = names.get(from) ?? from;
  const own = names.get(to.name) ?? to.name;
  const all = await knownSources(redis);
  const known = all.find(({ storedAs }) => storedAs === old);
  if (known === undefined || old === own) return known;
  if (isOpened && !mayBeSame(known, to)) {
    const shown = ({ connector, account }: { connector: string; account?: string | undefined }) =>
      account === undefined ? connector : `${connector} (${account})`;
    const its = shown({ connector: to.connector.name, account: to.account });
    throw refusal(`Source "${from}" was of ${shown(known)}, and "${to.name}" is of ${its}: it has other records`);
  }
  if (await hasData(redis, own)) {
    throw refusal(
      `Sources "${from}" and "${to.name}" both have data, which can't be joined: both may have asked about the same record. To go on with the data ` +
        `of "${from}", give the source in the configuration a name that is new, with "was: ${from}"; to go on with the data of "${to.name}", ` +
        `take "was" out, and what waits in "${from}" asks nobody`,
    );
  }
  const itself = all.find(({ storedAs }) => storedAs === own);
  if (itself && !isAbsent(itself) && (await runningProcesses(redis)).length > 0) {
    throw refusal(
      `A process runs, or ran a few minutes ago, with "${to.name}" as a source of its own: end each such process, and try again`,
    );
  }
  return known;
}

async function hasData(redis: RedisClient, source: string): Promise<boolean> {
  const journeys = await redis.exists(journeyStates.map((state) => `${tagOf(source)}:state:${state}`));
  const jobs = await Promise.all(['plan', 'erase'].map((queue) => queuedJobs(redis, source, queue)));
  return journeys > 0 || jobs.some((count) => count > 0);
}

function refuseShared(sources: readonly ConfiguredSource[]): void {
  for (const [storedAs, [one, other]] of Map.groupBy(sources, (source) => source.storedAs)) {
    if (one === undefined || other === undefined) continue;
    throw refusal(
      `Sources "${one.name}" and "${other.name}" are one and the same, whose data is stored as "${storedAs}": one of them was renamed to the other. ` +
        'Take one out, or give the one that is new another name',
    );
  }
}

function refusal(message: string): CloseloopError {
  return new CloseloopError(`${message}.`, { kind: 'config' });
}
