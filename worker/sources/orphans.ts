import { z } from 'zod';
import { defineConnector, type ReadResult, type WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { compileExpression, type Expression } from '../../core/mapping/expression.ts';
import type { Log } from '../../core/ports.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import type { RedisClient } from '../redis/client.ts';
import { isDryRun } from '../redis/keys.ts';
import { AbsentSource, isGone, type KnownSource, type KnownSources } from './known-sources.ts';
import { orphanRemedy, stateOf, whatWaits } from './orphan-state.ts';

/** A source that Redis knows and this configuration does not: another process has it, or it was renamed or removed. */
export interface Orphan {
  pipeline: SourcePipeline;
  /** What Redis holds about the source. */
  known: KnownSource;
  /** No process has the source in its configuration. */
  isGone: boolean;
}

/**
 * Their stored data is used like any other source's. Their vendor can't be reached, and their jobs are not run, except the erasures
 * of orphans that no process has (sweeping.ts).
 */
export class Orphans {
  readonly #known: KnownSources;
  readonly #configured: ReadonlyMap<string, SourcePipeline>;
  readonly #create: (source: ConfiguredSource) => SourcePipeline;
  readonly #dryRun: boolean;
  readonly #pipelines = new Map<string, SourcePipeline>();

  constructor(
    known: KnownSources,
    configured: ReadonlyMap<string, SourcePipeline>,
    create: (source: ConfiguredSource) => SourcePipeline,
    options: { dryRun: boolean },
  ) {
    this.#known = known;
    this.#configured = configured;
    this.#create = create;
    this.#dryRun = options.dryRun;
  }

  /** As of now, by name. In earnest also sources of dry runs, whose data has the same people; in a dry run no source in earnest. */
  async all(): Promise<Orphan[]> {
    const known = (await this.#known.all()).filter(({ name }) => !this.#dryRun || isDryRun(name));
    const unconfigured = known.filter(({ name }) => !this.#configured.has(name));
    return unconfigured.map((one) => ({
      pipeline: this.#pipelineOf(one),
      known: one,
      isGone: isGone(one),
    }));
  }

  /** The pipeline of a name that this configuration doesn't have. */
  async named(name: string): Promise<SourcePipeline> {
    const known = (await this.#known.all()).find((one) => one.name === name);
    return this.#pipelineOf(
      known ?? {
        name,
        connector: 'unknown',
        writesNoAnswer: false,
        polls: true,
        contacts: [],
        configuredAt: new Date(0),
      },
    );
  }

  async close(graceMs: number): Promise<void> {
    const stages = [...this.#pipelines.values()].flatMap((pipeline) => Object.values(pipeline.stages));
    await Promise.all(stages.map((stage) => stage.close(graceMs)));
  }

  #pipelineOf(known: KnownSource): SourcePipeline {
    const pipeline =
      this.#pipelines.get(known.name) ?? this.#create({ name: known.name, ...absent(known), rules: [], policy: {} });
    this.#pipelines.set(known.name, pipeline);
    // The process that has the source may have other rules by now.
    const { customerContacts } = pipeline.context;
    if (customerContacts.map(({ source }) => source).join() !== known.contacts.join()) {
      pipeline.context.customerContacts = known.contacts.flatMap(compiled);
    }
    return pipeline;
  }
}

/** Logs what waits for a person, once per process; alerts when no process has the source any more. */
export class OrphanNews {
  readonly #reported = new Map<string, string>();
  readonly #log: Log;
  readonly #redis: RedisClient;

  constructor(redis: RedisClient, log: Log) {
    this.#redis = redis;
    this.#log = log;
  }

  async report(orphan: Orphan): Promise<void> {
    const { name, alert } = orphan.pipeline.context;
    const waits = whatWaits(await stateOf(orphan.pipeline.context, this.#redis));
    if (waits === undefined) return;
    const why = orphan.isGone
      ? 'a source is in no configuration any more, and something of it waits'
      : 'a source that another process has, or had a moment ago, is not in this configuration';
    const remedy = orphanRemedy(name);
    if (this.#reported.get(name) !== why) this.#log.warn({ source: name, waits, remedy }, why);
    this.#reported.set(name, why);
    if (orphan.isGone) await alert('to-do', why, remedy);
  }
}

/** The compiled expressions; none where another version wrote them and they do not compile. */
function compiled(source: string): Expression[] {
  try {
    return [compileExpression(source)];
  } catch (error) {
    if (error instanceof CloseloopError) return [];
    throw error;
  }
}

/** In place of the connector, as this process has no settings of the source. */
function absent({ name, connector, account, writesNoAnswer }: KnownSource) {
  const error = new AbsentSource(name);
  const made = defineConnector({
    name: connector,
    settings: z.object({}),
    ...(account !== undefined && { account: () => account }),
    open: () => ({
      verify: () => ({ ok: false, why: 'unsigned' }),
      events: () => ({ ok: false, why: 'its source is not in this configuration' }),
      read: async (ids) => ids.map((): ReadResult => ({ ok: false, why: 'error', error })),
      writeBack: async (items) => items.map((): WriteResult => ({ ok: false, why: 'error', error })),
      forget: async () => {
        throw error;
      },
      writesNoAnswer,
      batchSize: 100,
      taken: { status: 202 },
    }),
  });
  return { connector: made, ...made.sources.parse({}) };
}
