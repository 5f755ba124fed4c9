import { CloseloopError } from '../../core/errors.ts';
import type { Expression } from '../../core/mapping/expression.ts';
import { compileExpression } from '../../core/mapping/expression-compile.ts';
import type { Config, ConfiguredSource } from '../config/config.ts';
import { unopened } from '../config/unneeded.ts';
import type { RedisClient } from '../redis/client.ts';
import { isDryRun } from '../redis/keys.ts';
import { AbsentSource, type KnownSource, knownSources } from '../sources/known-sources.ts';
import type { SourcePipeline } from './source-pipeline.ts';

/** A source that Redis knows and this configuration does not: another process has it, or it was removed. */
export interface Absent {
  pipeline: SourcePipeline;
  /** The source's entry in Redis. */
  known: KnownSource;
}

/**
 * The stored data of absent sources is used like that of any other source: answers come in, retention and erasures hold. Their vendors can't be
 * reached, and their jobs are not run, except the erasures of sources that no process has (sweeping.ts).
 */
export class AbsentSources {
  readonly #redis: RedisClient;
  readonly #configured: ReadonlySet<string>;
  readonly #create: (source: ConfiguredSource) => SourcePipeline;
  readonly #dryRun: boolean;
  readonly #pipelines = new Map<string, SourcePipeline>();

  constructor(redis: RedisClient, config: Config, create: (source: ConfiguredSource) => SourcePipeline) {
    this.#redis = redis;
    this.#configured = new Set(config.sources.map(({ storedAs }) => storedAs));
    this.#create = create;
    this.#dryRun = config.dryRun;
  }

  /** The absent sources now. In earnest they include the sources of dry runs, which hold data of the same people; in a dry run no others. */
  async all(): Promise<Absent[]> {
    const all = (await knownSources(this.#redis)).filter(({ storedAs }) => !this.#dryRun || isDryRun(storedAs));
    const absent = all.filter(({ storedAs }) => !this.#configured.has(storedAs));
    return absent.map((known) => ({ pipeline: this.#pipelineOf(known), known }));
  }

  async close(graceMs: number): Promise<void> {
    const stages = [...this.#pipelines.values()].flatMap((pipeline) => Object.values(pipeline.stages));
    await Promise.all(stages.map((stage) => stage.close(graceMs)));
  }

  #pipelineOf(known: KnownSource): SourcePipeline {
    const { name, storedAs } = known;
    const pipeline =
      this.#pipelines.get(storedAs) ??
      this.#create({ name, storedAs, ...absent(known), rules: [], answers: [], policy: {} });
    this.#pipelines.set(storedAs, pipeline);
    // The process that has the source may have other rules by now.
    const { customerContacts } = pipeline.context;
    if (customerContacts.map(({ source }) => source).join() !== known.contacts.join()) {
      pipeline.context.customerContacts = known.contacts.flatMap(compiled);
    }
    return pipeline;
  }
}

/** The compiled expression; an empty list where another version wrote it and it does not compile. */
function compiled(source: string): Expression[] {
  try {
    return [compileExpression(source)];
  } catch (error) {
    if (error instanceof CloseloopError) return [];
    throw error;
  }
}

/** Takes the place of the connector, as this process has no settings of the source. */
export function absent({ name, connector, account, writesNoAnswer }: KnownSource) {
  const error = new AbsentSource(name);
  const forget = () => Promise.reject(error);
  return unopened({ name: connector }, error, { account, writesNoAnswer, forget });
}
