import { messageOf } from '../../core/errors.ts';
import { campaignNumbers } from '../config/campaign-choice.ts';
import type { ConfiguredSource } from '../config/config.ts';
import { Alerts, alertSettings } from '../operations/alerts.ts';
import { countRefused } from '../operations/delivery-counts.ts';
import type { Outage } from '../operations/outage.ts';
import { RedisWatch } from '../operations/redis-watch.ts';
import { noteDrySpans } from '../sources/dry-run.ts';
import { knownSources, noteSources } from '../sources/known-sources.ts';
import { sourceNamed } from '../sources/stored-names.ts';
import { type Absence, absencesOf } from './absences.ts';
import { AbsentSources } from './absent-sources.ts';
import { Collecting } from './collect/schedule.ts';
import type { EngineOptions } from './engine-options.ts';
import { Ingestion } from './ingestion.ts';
import type { CollectJob, WriteBackJob } from './jobs.ts';
import { openService } from './open-service.ts';
import { downOf, type Stopped, stoppedOf } from './outage-watch.ts';
import { checkRules } from './plan/check-rules.ts';
import { Rounds } from './rounds.ts';
import { Sending } from './sending.ts';
import { createSourcePipeline, type SourceContext, type SourcePipeline } from './source-pipeline.ts';
import type { Stage } from './stage.ts';
import { worked } from './stages.ts';
import { Sweeping } from './sweeping.ts';

/** The time between two measurements of how busy the process is. Real time. */
const adaptEveryMs = 100;
/** The time between two checks whether a source's poll is due: a small part of the time between two polls, as a poll may be late by this time. */
const pollCheckMs = (everyMs: number): number => Math.max(100, Math.min(1_000, everyMs / 10));

/** The loop: the stages of every source, and the collecting of grades. `work` begins to run jobs in this process. */
export class Engine {
  readonly pipelines: ReadonlyMap<string, SourcePipeline>;
  /** Whether the Feedback service answers. */
  readonly service: Outage;
  /** Stores deliveries, once `openIngestion` was called. */
  readonly ingestion: Ingestion;
  readonly collecting: Collecting;
  /** Sends the events of journeys to receivers. */
  readonly sending: Sending;
  /** The sources that Redis knows and this configuration does not. */
  readonly absent: AbsentSources;
  readonly #options: EngineOptions;
  readonly #redisWatch: RedisWatch;
  readonly #alerts: Alerts;
  readonly #sweeping: Sweeping;
  readonly #polling: Rounds[] = [];
  #adapting: NodeJS.Timeout | undefined;
  readonly #startedAt = new Date();

  constructor(options: EngineOptions) {
    const { config, ports, redis, log } = options;
    this.#options = options;
    this.#redisWatch = new RedisWatch(redis, ports, log);
    this.#alerts = new Alerts(redis, alertSettings(config), { fetch: ports.fetch, now: () => new Date() }, log);
    const { outage, ...service } = openService(options);
    this.service = outage;
    const pipelines = new Map<string, SourcePipeline>();
    this.pipelines = pipelines;
    const sources = () => this.sources();
    const { onLost } = this.#redisWatch;
    this.sending = new Sending({ engine: options, alerts: this.#alerts, sources, onLost });
    const shared = {
      ...service,
      sending: this.sending,
      options,
      service: outage,
      alerts: this.#alerts,
      onLost,
      sources,
    };
    const create = (source: ConfiguredSource) => createSourcePipeline(source, shared);
    for (const source of config.sources) pipelines.set(source.name, create(source));
    this.absent = new AbsentSources(redis, config, create);
    const common = { ...shared, engine: options, pipelines };
    this.collecting = new Collecting({ ...common, campaigns: this.campaigns });
    this.ingestion = new Ingestion(common);
    this.#sweeping = new Sweeping({
      ...common,
      collecting: this.collecting,
      sending: this.sending,
      absent: this.absent,
      noteSources: () => this.noteSources(),
    });
  }

  /** The campaigns that any rule asks in. */
  get campaigns(): number[] {
    const rules = [...this.pipelines.values()].flatMap(({ context }) => context.rules);
    return campaignNumbers(rules).sort((a, b) => a - b);
  }

  /** The stage that collects grades, and then the stages that write them back. */
  get gradeStages(): (Stage<typeof CollectJob> | Stage<typeof WriteBackJob>)[] {
    return [this.collecting.stage, ...[...this.pipelines.values()].map(({ stages }) => stages.writeBack)];
  }

  /** Opens the connections by which `ingestion` stores deliveries. Resolves when Redis answers: the HTTP server listens only then. */
  async openIngestion(): Promise<void> {
    await this.noteSources();
    await this.ingestion.open();
  }

  /** Counts deliveries of a source that an intake refused for one reason, for `status`. */
  async countRefused(source: string, why: string, count: number): Promise<void> {
    const { redis, log } = this.#options;
    const { storedAs = source } = this.ingestion.routes.get(source)?.context ?? {};
    await countRefused(redis, storedAs, why, count).catch((error: unknown) =>
      log.warn({ source, why: messageOf(error) }, 'refused deliveries could not be counted for status'),
    );
  }

  /** Runs jobs in this process. `goesOn`: false where it takes the place of another engine, which is still at work. */
  async work({ goesOn = true } = {}): Promise<void> {
    await this.noteSources();
    if (goesOn) await this.goOn();
    for (const { stages, context } of this.pipelines.values())
      for (const stage of worked(stages, context)) stage.start();
    this.#adapt();
    this.sending.start();
    await this.collecting.start();
    this.#sweeping.start();
    for (const [source, pipeline] of this.pipelines) this.#poll(source, pipeline);
  }

  /** Resumes stages and jobs that were stopped for a configuration error, and checks the rules. */
  async goOn(): Promise<void> {
    for (const { context, jobs, pauses, holds } of this.pipelines.values()) {
      await pauses.clear(Object.values(jobs).map(({ queue }) => queue));
      await holds.clear();
      await checkRules(context, holds);
    }
  }

  /** Lets stages process as many jobs at once as keep this process busy. */
  #adapt(): void {
    let before = performance.eventLoopUtilization();
    this.#adapting = setInterval(() => {
      const now = performance.eventLoopUtilization();
      const busy = performance.eventLoopUtilization(now, before).utilization;
      before = now;
      for (const stage of this.#stages()) stage.adapt(busy);
    }, adaptEveryMs).unref();
  }

  /**
   * Polls each source by itself: a source whose vendor is slow, or has little quota left, holds up no other source. `pipeline.poll` keeps to
   * `poll.every`; a check in between only reads Redis.
   */
  #poll(source: string, pipeline: SourcePipeline): void {
    const { config, log } = this.#options;
    const rounds = new Rounds(
      () => pipeline.poll(),
      (error) => log.warn({ source, why: messageOf(error) }, 'poll failed'),
    );
    this.#polling.push(rounds);
    rounds.start(pollCheckMs(config.poll.every));
  }

  /** Notes in Redis that these sources are in a configuration: before any of their data is stored, and from time to time. */
  async noteSources(): Promise<void> {
    const { config, redis } = this.#options;
    if (config.dryRun) {
      const known = await knownSources(redis);
      const names = config.sources.map(({ storedAs }) => storedAs);
      await noteDrySpans(redis, names, { known, startedAt: this.#startedAt });
    }
    await noteSources(
      redis,
      config.sources.map(({ name, storedAs, connector, account }) => ({
        name,
        storedAs,
        connector: connector.name,
        account,
        writesNoAnswer: this.pipelines.get(name)?.context.source.writesNoAnswer === true,
        polls: this.pipelines.get(name)?.context.source.poll !== undefined,
        contacts: this.pipelines.get(name)?.context.customerContacts.map(({ source }) => source) ?? [],
      })),
    );
  }

  /** Every source that Redis knows: the sources of this configuration, and absent sources. */
  async sources(): Promise<SourceContext[]> {
    const absent = await this.absent.all();
    return [...this.pipelines.values(), ...absent.map(({ pipeline }) => pipeline)].map(({ context }) => context);
  }

  /** Finds a source by any name that it has had. */
  async source(name: string): Promise<SourceContext | undefined> {
    return await sourceNamed(name, await this.sources(), this.#options.redis);
  }

  /** The absent sources that a person should know of. */
  async absences(): Promise<Absence[]> {
    const { config, redis } = this.#options;
    const isNew = async ({ name }: ConfiguredSource) =>
      Object.values((await this.pipelines.get(name)?.context.store.lists.counts()) ?? {}).every((n) => n === 0);
    return await absencesOf(await this.absent.all(), { configured: config.sources, isNew, redis });
  }

  /**
   * The parts that can't go on, by source: stages that were stopped for a configuration error, campaigns, rules and operations that wait
   * for a person, endpoints that do not answer. `collect` stands for the collecting of grades, `feedback` for the service.
   */
  async paused(): Promise<Record<string, Stopped[]>> {
    const all = [...this.pipelines].map(
      async ([name, one]): Promise<[string, Stopped[]]> => [name, await stoppedOf(one)],
    );
    const lists = await Promise.all(all);
    lists.push(['collect', await this.collecting.paused()], ['feedback', await downOf(this.service)]);
    return Object.fromEntries(lists.filter(([, list]) => list.length > 0));
  }

  /** How many jobs wait for a worker or run, over all stages. Delayed jobs are not counted. */
  async busy(): Promise<number> {
    const stages = [...this.pipelines.values()].flatMap(({ stages, context }) => worked(stages, context));
    const all = this.#options.config.dryRun ? stages : [...stages, ...this.sending.stages, this.collecting.stage];
    const counts = await Promise.all(
      all.map(({ jobs }) => jobs.queue.getJobCountByTypes('waiting', 'active', 'prioritized')),
    );
    return counts.reduce((sum, n) => sum + n, 0);
  }

  /** Waits up to `graceMs` for running jobs; another worker, or the next start, continues the rest. */
  async close(graceMs: number): Promise<void> {
    this.#redisWatch.close();
    clearInterval(this.#adapting);
    const until = performance.now() + graceMs;
    const leftMs = () => Math.max(0, until - performance.now());
    await Promise.all([this.#sweeping, ...this.#polling].map((rounds) => rounds.stop(leftMs())));
    await Promise.all([...this.#stages(), this.sending, this.absent].map((one) => one.close(leftMs())));
    this.ingestion.close();
  }

  #stages() {
    return [...[...this.pipelines.values()].flatMap(({ stages }) => Object.values(stages)), this.collecting.stage];
  }
}
