import { CloseloopError } from '../../core/errors.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import { isDryRun } from '../redis/keys.ts';
import type { SourceNames } from '../redis/source-names.ts';
import { mayBeSame } from './known-sources.ts';
import { stateOf } from './orphan-state.ts';
import type { Orphans } from './orphans.ts';

interface NewcomersOptions {
  configured: readonly ConfiguredSource[];
  pipelines: ReadonlyMap<string, SourcePipeline>;
  orphans: Orphans;
  names: SourceNames;
  engine: Pick<EngineOptions, 'redis'>;
}

/**
 * A source without journeys may be a source that is missing in this configuration, under a new name, and would not know whom the old
 * source asked. Until a person decides, the newcomer's deliveries are stored and not planned.
 */
export class Newcomers {
  readonly #options: NewcomersOptions;

  constructor(options: NewcomersOptions) {
    this.#options = options;
  }

  /** At the start of a process, once nothing is paused any more for what an earlier one met: holds it if it may be another. */
  async hold(pipeline: SourcePipeline): Promise<void> {
    await this.#settle(pipeline);
  }

  /** Runs periodically, and after a person has decided: releases newcomers that can't be another source any more. */
  async check(): Promise<void> {
    const { pipelines, names } = this.#options;
    for (const [name, pipeline] of pipelines)
      if ((await names.newcomer(name)) !== undefined) await this.#settle(pipeline);
  }

  /** The sources that the newcomer may be. */
  async mayBe({ context }: SourcePipeline): Promise<string[]> {
    const { configured, orphans, names, engine } = this.#options;
    const { name, store } = context;
    const settings = configured.find((one) => one.name === name);
    const counts = Object.values(await store.queries.counts());
    // What a dry run knows is of no consequence to it, nor to a source in earnest.
    if (settings === undefined || isDryRun(name) || counts.some((n) => n > 0)) return [];
    const beside = await names.beside(name);
    const found: string[] = [];
    for (const orphan of await orphans.all()) {
      if (isDryRun(orphan.known.name) || beside.has(orphan.known.name) || !mayBeSame(orphan.known, settings)) continue;
      const { journeys, deliveries } = await stateOf(orphan.pipeline.context, engine.redis);
      if (journeys + deliveries > 0) found.push(orphan.known.name);
    }
    return found;
  }

  /**
   * A person says that the source is not what `other` is called now.
   * @returns the sources that it may be still
   * @throws CloseloopError config when it isn't held up for that one
   */
  async begin(pipeline: SourcePipeline, other: string): Promise<string[]> {
    const { names } = this.#options;
    const { name } = pipeline.context;
    const all = await this.mayBe(pipeline);
    if (!all.includes(other) && !(await names.beside(name)).has(other)) {
      const others = all.length === 0 ? 'it is not held up' : `it may be: ${all.join(', ')}`;
      throw new CloseloopError(`Source "${name}" is not held up for "${other}"; ${others}.`, { kind: 'config' });
    }
    await names.noteBeside(name, other);
    await this.#settle(pipeline);
    return all.filter((one) => one !== other);
  }

  async #settle(pipeline: SourcePipeline): Promise<void> {
    const { names } = this.#options;
    const { name } = pipeline.context;
    const others = await this.mayBe(pipeline);
    if (others.length > 0) return await this.#holdUp(pipeline, newcomerWhy(name, others));
    if (!(await names.settle(name))) return;
    const { queue } = pipeline.jobs.plan;
    await pipeline.pauses.lift(queue.name, queue);
  }

  async #holdUp({ context, pauses, jobs }: SourcePipeline, why: string): Promise<void> {
    const { queue } = jobs.plan;
    // First: a worker that is at it refuses each job by itself.
    await this.#options.names.noteNewcomer(context.name, why);
    const isReported = (await pauses.list()).some((one) => one.stage === queue.name && one.why === why);
    if (!isReported) await pauses.set(queue.name, why);
    await queue.pause();
  }
}

function newcomerWhy(name: string, others: readonly string[]): string {
  const which = others.map((one) => `"${one}"`).join(' or ');
  return `it may be what source ${which} is called now, which is not in this configuration and has asked people: its deliveries wait until it is said what it is. ${newcomerRemedy(name, others)}`;
}

export function newcomerRemedy(name: string, others: readonly string[]): string {
  const [old = 'OLD'] = others;
  return `If it is that one: "closeloop source rename ${old} ${name}". If it is another, whose records ${old} never asked about: "closeloop source new ${name} --beside ${old}"`;
}
