import { CloseloopError } from '../../core/errors.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { Alerts } from '../operations/alerts.ts';
import type { Collecting } from '../pipeline/collect/schedule.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import { isDryRun } from '../redis/keys.ts';
import type { SourceNames } from '../redis/source-names.ts';
import { type KnownSource, type KnownSources, mayBeSame } from './known-sources.ts';
import type { Orphans } from './orphans.ts';
import { moveStragglers, type Renamed, renameSource } from './source-rename.ts';

interface RenamesOptions {
  engine: EngineOptions;
  pipelines: ReadonlyMap<string, SourcePipeline>;
  orphans: Orphans;
  known: KnownSources;
  names: SourceNames;
  collecting: Collecting;
  alerts: Alerts;
}

const oldName =
  'a source has another name now, and this process the old one: its jobs wait until a process with the new name runs';

/** Renames sources, and takes over what still comes in under old names. */
export class Renames {
  readonly #options: RenamesOptions;
  /** Sources that this process has configured under an old name. */
  readonly #reported = new Set<string>();

  constructor(options: RenamesOptions) {
    this.#options = options;
  }

  /** The configured sources that were not renamed. A person is alerted of the others. */
  async configured(): Promise<ConfiguredSource[]> {
    const { engine, names } = this.#options;
    const renamed = await names.renamed();
    for (const { name } of engine.config.sources) {
      const now = renamed.get(name);
      if (now !== undefined) await this.#report(name, now);
    }
    return engine.config.sources.filter(({ name }) => !renamed.has(name));
  }

  /** Moves jobs that were added under an old name after the rename, by a process with an old configuration. */
  async takeStragglers(): Promise<void> {
    const { engine, names, pipelines, orphans } = this.#options;
    for (const [old, name] of await names.renamed()) {
      const pipeline = pipelines.get(name);
      if (!pipeline || pipelines.has(old) || (await pipeline.isGated())) continue;
      const jobs = await moveStragglers(engine.redis, await orphans.named(old), pipeline);
      if (jobs > 0) engine.log.warn({ source: name, was: old, jobs }, 'jobs came in under an old name, and were moved');
    }
  }

  /**
   * Moves the stored data of a source that is not in this configuration to a source that is.
   * @throws CloseloopError config when that can't be
   */
  async rename(from: string, target: SourcePipeline, progress: (text: string) => void): Promise<Renamed | 'already'> {
    const { engine, pipelines, orphans, known, names, collecting } = this.#options;
    const { name: to } = target.context;
    const stored = (await known.all()).find(({ name }) => name === from && !isDryRun(name));
    const unconfigured = (await orphans.all()).map(({ pipeline }) => pipeline).filter(({ context }) => !context.dryRun);
    if (!stored && !(await names.moving(from))) {
      if ((await names.renamed()).get(from) === to) return 'already';
      const others = unconfigured.map(({ context }) => context.name).join(', ');
      const there = others === '' ? 'there is none that the configuration does not have' : `there are: ${others}`;
      throw new CloseloopError(`Redis knows no source "${from}"; ${there}.`, { kind: 'config' });
    }
    const configured = engine.config.sources.find(({ name }) => name === to);
    if (stored && configured) refuseOther(stored, configured);
    const { redis, ports } = engine;
    return await renameSource({
      ...{ redis, names, known, ports, progress },
      from: await orphans.named(from),
      to: target,
      all: [...pipelines.values(), ...unconfigured],
      collect: collecting.stage,
    });
  }

  async #report(name: string, now: string): Promise<void> {
    const { engine, alerts } = this.#options;
    const remedy = `call it ${now} in the configuration of this process, and start it anew`;
    if (!this.#reported.has(name)) engine.log.error({ source: name, now, remedy }, oldName);
    this.#reported.add(name);
    await alerts.raise({ kind: 'to-do', source: name, why: oldName, remedy });
  }
}

function refuseOther(known: KnownSource, target: ConfiguredSource): void {
  if (mayBeSame(known, target)) return;
  const { name, connector, account } = known;
  const shown = (kind: string, whose: string | undefined) => (whose === undefined ? kind : `${kind} (${whose})`);
  throw new CloseloopError(
    `Source "${name}" was of ${shown(connector, account)}, and "${target.name}" is of ${shown(target.connector.name, target.account)}: it has other records.`,
    { kind: 'config' },
  );
}
