import { Queue } from 'bullmq';
import pLimit from 'p-limit';
import { z } from 'zod';
import type { SourceEvent } from '../../core/connector/contract.ts';
import { adviceOf, messageOf } from '../../core/errors.ts';
import { createFeedbackClient, type FeedbackClient } from '../../core/feedback/client.ts';
import type { ConfiguredSource } from '../config/config.ts';
import { Alerts } from '../operations/alerts.ts';
import { Outage } from '../operations/outage.ts';
import { countRefused } from '../operations/refused-counts.ts';
import { watchCalls } from '../operations/watched-calls.ts';
import { globalTag, tagOf } from '../redis/keys.ts';
import { SourceNames } from '../redis/source-names.ts';
import { isLostLock, probe } from '../redis/unavailable.ts';
import { aliasedEvents } from '../sources/aliased-source.ts';
import { KnownSources } from '../sources/known-sources.ts';
import { Newcomers } from '../sources/newcomers.ts';
import { type Orphan, OrphanNews, Orphans } from '../sources/orphans.ts';
import { Renames } from '../sources/renames.ts';
import type { Renamed } from '../sources/source-rename.ts';
import { CampaignCache } from './campaigns.ts';
import { Collecting } from './collect/schedule.ts';
import type { EngineOptions } from './engine-options.ts';
import { EraseJob } from './erase/erase.ts';
import { type CollectJob, PlanJob, type StageResult, type WriteBackJob } from './jobs.ts';
import { campaignOf, ruleFault } from './plan/decide.ts';
import type { SuspectJob } from './quarantine.ts';
import { Rounds, stepsOf } from './rounds.ts';
import { createSourcePipeline, jobIdOf, type SourcePipeline } from './source-pipeline.ts';
import type { Stage } from './stage.ts';
import { type SweepPlaces, sweep } from './sweep.ts';

/** Calls to the Feedback service at once, per process. */
const serviceCalls = 20;
/** Searches for requests of unknown outcome at once, per process: each reads an export. */
const serviceLooks = 2;
const campaignKeepMs = 60_000;
const sweepEveryMs = 60_000;
/** How soon an intake takes deliveries under a name that a source had before it was renamed. Real time. */
const doorsEveryMs = 2_000;
const lostEveryMs = 30_000;
const lostLock =
  'a job lost its lock, as this process stood still for seconds (a busy or suspended machine): another worker has the job, and nothing is done twice';

/** How often a source is looked at whether its poll is due: a small part of the time between two, or it would miss its turn by as much. */
const pollLookMs = (everyMs: number): number => Math.max(100, Math.min(1_000, everyMs / 10));
/** An endpoint that has been down for so long is told to a person. Real time. */
const longOutageMs = 600_000;
const outageRemedy = 'nothing is lost, work goes on by itself when it answers again; see why it does not';
/** Events of a delivery that are stored in one write. */
const eventsAtOnce = 100;

interface Stopped {
  stage: string;
  why: string;
  at: Date;
}

const usedUp = "the quota of the vendor's account is used up";
const quotaRemedy = 'nothing is lost, work goes on by itself; see who else calls the vendor, or raise the quota';

/** The loop: every source's stages, and the collecting of grades. Built whole; `work` runs jobs in this process. */
export class Engine {
  readonly pipelines: ReadonlyMap<string, SourcePipeline>;
  /** Whether the Feedback service answers. */
  readonly service: Outage;
  readonly #options: EngineOptions;
  readonly #feedback: FeedbackClient;
  readonly #alerts: Alerts;
  readonly #collecting: Collecting;
  readonly #known: KnownSources;
  readonly #orphans: Orphans;
  readonly #names: SourceNames;
  readonly #renames: Renames;
  readonly #newcomers: Newcomers;
  readonly #orphanNews: OrphanNews;
  readonly #inlets = new Map<string, { plan: Queue; erase: Queue }>();
  readonly #lostAt = new Map<'lock' | 'redis', number>();
  #isClosed = false;
  readonly #rounds: Rounds[] = [];
  readonly #doors = new Map<string, SourcePipeline>();
  readonly #places = new Map<string, SweepPlaces>();

  constructor(options: EngineOptions) {
    const { config, ports, redis, log } = options;
    this.#options = options;
    this.service = new Outage(redis, { endpoint: 'Feedback service', key: `${globalTag}:outage`, log });
    this.#feedback = watchCalls(createFeedbackClient(config.feedback, ports), this.service, true);
    this.#alerts = new Alerts(redis, config.alerts, { fetch: ports.fetch, now: () => new Date() }, log);
    const campaigns = new CampaignCache(this.#feedback, campaignKeepMs);
    const limits = { limited: pLimit(serviceCalls), limitedLooks: pLimit(serviceLooks) };
    const pipelines = new Map<string, SourcePipeline>();
    const names = new SourceNames(redis);
    this.#names = names;
    const sources = async () => {
      const all = [...pipelines.values(), ...(await this.#orphans.all()).map(({ pipeline }) => pipeline)];
      return all.map(({ context }) => context);
    };
    const { service } = this;
    const shared = {
      options,
      campaigns,
      ...limits,
      feedback: this.#feedback,
      service,
      alerts: this.#alerts,
      sources,
      names,
    };
    const create = (source: ConfiguredSource) => createSourcePipeline(source, { ...shared, onLost: this.#onLost });
    for (const source of config.sources) pipelines.set(source.name, create(source));
    this.pipelines = pipelines;
    this.#known = new KnownSources(redis);
    this.#orphans = new Orphans(this.#known, pipelines, create);
    this.#newcomers = new Newcomers({ configured: config.sources, pipelines, orphans: this.#orphans, names });
    this.#orphanNews = new OrphanNews(log);
    this.#collecting = new Collecting({
      engine: options,
      feedback: this.#feedback,
      service: this.service,
      alerts: this.#alerts,
      sources,
      names,
      campaigns: this.campaigns,
      onLost: this.#onLost,
    });
    this.#renames = new Renames({
      engine: options,
      pipelines,
      orphans: this.#orphans,
      known: this.#known,
      names,
      collecting: this.#collecting,
      alerts: this.#alerts,
    });
  }

  /** The campaigns that any rule asks in. */
  get campaigns(): number[] {
    const all = [...this.pipelines.values()].flatMap(({ context }) => context.rules.map(({ campaign }) => campaign));
    return [...new Set(all)].sort((a, b) => a - b);
  }

  /** What brings grades in, and then what writes them back. */
  get gradeStages(): (Stage<typeof CollectJob> | Stage<typeof WriteBackJob>)[] {
    return [this.#collecting.stage, ...[...this.pipelines.values()].map(({ stages }) => stages.writeBack)];
  }

  /** Connects what `store` writes through. Resolves when Redis answers: the HTTP server listens only then. */
  async openInlets(): Promise<void> {
    await this.noteSources();
    for (const pipeline of this.pipelines.values()) await this.#newcomers.hold(pipeline);
    await this.#openDoors();
    const opening = new Rounds(
      () => this.#openDoors(),
      (error) => this.#options.log.debug({ why: String(error) }, 'former names could not be read'),
    );
    this.#rounds.push(opening);
    opening.start(doorsEveryMs);
    for (const [name, { stages }] of this.pipelines) {
      const open = async ({ queue }: Stage<z.ZodType>): Promise<Queue> => {
        const inlet = new Queue(queue.name, {
          prefix: tagOf(name),
          connection: this.#options.intakeConnection(),
          defaultJobOptions: queue.opts.defaultJobOptions ?? {},
        });
        inlet.on('error', this.#onLost);
        await inlet.waitUntilReady();
        return inlet;
      };
      this.#inlets.set(name, { plan: await open(stages.plan), erase: await open(stages.erase) });
      // Connects, so that the first delivery needn't wait for it.
      await this.#options.replicated(tagOf(name)).catch(() => undefined);
    }
  }

  /** Deliveries of a source that an intake refused for one reason: for people who look at `status`. */
  async countRefused(source: string, why: string, count: number): Promise<void> {
    await countRefused(this.#options.redis, source, why, count).catch((error: unknown) =>
      this.#options.log.warn({ source, why: String(error) }, 'refused deliveries could not be counted for status'),
    );
  }

  /** Sources by the names that deliveries may come under: also by those they had, as vendors call on there until "setup". */
  get doors(): ReadonlyMap<string, SourcePipeline> {
    return this.#doors;
  }

  async #openDoors(): Promise<void> {
    const doors = new Map(this.pipelines);
    for (const [old, name] of await this.#names.renamed()) {
      const pipeline = this.pipelines.get(name);
      if (pipeline && !doors.has(old)) doors.set(old, pipeline);
    }
    for (const name of this.#doors.keys()) if (!doors.has(name)) this.#doors.delete(name);
    for (const [name, pipeline] of doors) this.#doors.set(name, pipeline);
  }

  /**
   * Stores a delivery's events, a hundred in one write: thousands at once would stop the process for a second. Resolves
   * only when Redis has them all, and a replica of it, if there is one.
   */
  async store(door: string, told: readonly SourceEvent[], receivedAt: Date): Promise<void> {
    const source = this.#doors.get(door)?.context.name ?? door;
    const inlet = this.#inlets.get(source);
    const pipeline = this.pipelines.get(source);
    if (!inlet || !pipeline) throw new Error(`source ${source} has no inlet: openInlets comes first`);
    // Acknowledged is only what can be worked on.
    for (const event of told) {
      const { error } = (event.kind === 'erase' ? EraseJob : PlanJob).safeParse({ ...event, receivedAt });
      if (error) throw new Error(`its connector has made an event that is none: ${z.prettifyError(error)}`);
    }
    const events = await aliasedEvents(told, pipeline.context.aliases, receivedAt);
    const add = async (queue: Queue, stage: Stage<z.ZodType>, some: readonly SourceEvent[]): Promise<void> => {
      if (some.length === 0) return;
      for (let from = 0; from < some.length; from += eventsAtOnce) {
        const jobs = some.slice(from, from + eventsAtOnce).map((event) => ({
          name: queue.name,
          data: stage.toStored({ ...event, receivedAt }),
          opts: { jobId: jobIdOf(event.key, this.#options.seal) },
        }));
        await queue.addBulk(jobs);
      }
    };
    await add(
      inlet.plan,
      pipeline.stages.plan,
      events.filter(({ kind }) => kind !== 'erase'),
    );
    await add(
      inlet.erase,
      pipeline.stages.erase,
      events.filter(({ kind }) => kind === 'erase'),
    );
    await this.#options.replicated(tagOf(source));
  }

  /** Runs jobs in this process, resumes what was stopped for a configuration error, and checks the rules. */
  async work(): Promise<void> {
    const { config, clock, log } = this.#options;
    await this.noteSources();
    for (const pipeline of this.pipelines.values()) {
      await pipeline.pauses.clear(Object.values(pipeline.stages).map(({ queue }) => queue));
      await pipeline.holds.clear();
      await this.#checkRules(pipeline);
      await this.#newcomers.hold(pipeline);
      for (const stage of Object.values(pipeline.stages)) stage.start();
    }
    await this.#collecting.start();
    const warn = (why: string) => (error: unknown) => log.warn({ why: String(error) }, why);
    const sweeping = new Rounds((isStopped) => this.#sweep(isStopped), warn('sweep failed'));
    const everyMs = this.#options.sweepEveryMs ?? Math.max(1_000, clock.real(sweepEveryMs));
    this.#rounds.push(sweeping);
    sweeping.start(everyMs);
    // Each source by itself: one whose vendor is slow, or has little quota left, holds up nobody else. It keeps to
    // `poll.every` itself; a look in between is a look into Redis.
    for (const [source, pipeline] of this.pipelines) {
      const polling = new Rounds(
        async () => {
          if (!(await pipeline.isGated())) await pipeline.poll();
        },
        (error) => log.warn({ source, why: String(error) }, 'poll failed'),
      );
      this.#rounds.push(polling);
      polling.start(pollLookMs(config.poll.every));
    }
  }

  /** What nothing else would notice, in every source that Redis knows. */
  async #sweep(isStopped: () => boolean): Promise<void> {
    const { config, log } = this.#options;
    const settings = { expireAfterMs: config.expireAfter, retentionMs: config.retention.journeys };
    const step = stepsOf(log, isStopped);
    await step('all', 'note', () => this.noteSources());
    await step('all', 'renamed', () => this.takeStragglers());
    await step('all', 'newcomers', () => this.#newcomers.look());
    for (const [name, pipeline] of this.pipelines) {
      const { context, pauses, holds, stages } = pipeline;
      const queues = Object.values(stages).map(({ queue }) => queue);
      await step(name, 'sweep', async () => {
        if (!(await pipeline.isGated())) await sweep(context, settings, this.#placesOf(name));
      });
      await step(name, 'probe', () => pauses.probe(queues));
      await step(name, 'holds', () => holds.probe());
    }
    await step('all', 'orphans', async () => {
      for (const orphan of await this.orphans()) {
        const { name } = orphan.pipeline.context;
        if (await orphan.pipeline.isGated()) continue;
        await step(name, 'sweep', () =>
          sweep(orphan.pipeline.context, { ...settings, isGone: orphan.isGone }, this.#placesOf(name)),
        );
        await step(name, 'tell', () => this.#orphanNews.tell(orphan));
      }
    });
    await step('collect', 'schedule', () => this.lookAfterCollecting());
    await step('collect', 'probe', () => this.#collecting.pauses.probe([this.#collecting.stage.queue]));
    await step('outages', 'tell', () => this.#tellOutages());
    await step('alerts', 'send', () => this.#alerts.send());
  }

  #placesOf(source: string): SweepPlaces {
    const places = this.#places.get(source) ?? new Map();
    this.#places.set(source, places);
    return places;
  }

  /** Remembers that these sources are in a configuration: before anything of theirs is stored, and from time to time. */
  async noteSources(): Promise<void> {
    const configured = await this.#renames.configured();
    await this.#known.note(
      configured.map(({ name, connector, settings }) => ({
        name,
        connector: connector.name,
        account: connector.account(settings),
        writesNoAnswer: this.pipelines.get(name)?.context.source.writesNoAnswer === true,
      })),
    );
  }

  /** Jobs that came in under old names of this process's sources: see `Renames`. */
  async takeStragglers(): Promise<void> {
    await this.#renames.takeStragglers();
  }

  /** New names by old ones. */
  async renamed(): Promise<Map<string, string>> {
    return await this.#names.renamed();
  }

  /** @throws CloseloopError config when it can't be: see `Renames` */
  async rename(from: string, to: SourcePipeline, progress: (text: string) => void): Promise<Renamed | 'already'> {
    const renamed = await this.#renames.rename(from, to, progress);
    await this.#newcomers.look();
    return renamed;
  }

  /** The sources whose new name one may be. */
  async mayBe(pipeline: SourcePipeline): Promise<string[]> {
    return await this.#newcomers.mayBe(pipeline);
  }

  /** A person says that it is not what `other` is called now. @returns those that it may be still */
  async beginBeside(pipeline: SourcePipeline, other: string): Promise<string[]> {
    return await this.#newcomers.begin(pipeline, other);
  }

  /** Sources that Redis knows, and this configuration doesn't. */
  async orphans(): Promise<Orphan[]> {
    return await this.#orphans.all();
  }

  /** Every queue and worker meets the same lost connection again and again: it is told once in half a minute. */
  readonly #onLost = (error: Error): void => {
    const why = error.message || error.name;
    const kind = isLostLock(error) ? 'lock' : 'redis';
    if (Date.now() - (this.#lostAt.get(kind) ?? 0) < lostEveryMs) return;
    this.#lostAt.set(kind, Date.now());
    if (kind === 'lock') {
      this.#options.log.warn({ why }, lostLock);
      return;
    }
    this.#options.log.warn(
      { why },
      'Redis is away, or takes no writes: deliveries are answered with 503, work goes on when it is back',
    );
    void this.#tellBack();
  };

  #isTellingBack = false;
  async #tellBack(): Promise<void> {
    if (this.#isTellingBack) return;
    this.#isTellingBack = true;
    const { redis, ports, log } = this.#options;
    while (
      !this.#isClosed &&
      !(await probe(redis, globalTag).then(
        () => true,
        () => false,
      ))
    )
      await ports.sleep(1_000);
    this.#isTellingBack = false;
    if (!this.#isClosed) log.info({}, 'Redis takes writes again');
  }

  /**
   * What can't go on, by source: stages that were stopped for a configuration error, campaigns, rules and operations that wait
   * for a person, endpoints that do not answer. `collect` stands for the collecting of grades, `feedback` for the service.
   */
  async paused(): Promise<Record<string, Stopped[]>> {
    const all = [...this.pipelines].map(async ([name, { pauses, holds, vendor }]): Promise<[string, Stopped[]]> => {
      const held = (await holds.list()).map(({ stage, only, why, at }) => ({ stage: `${stage}, ${only}`, why, at }));
      return [name, [...(await pauses.list()), ...held, ...(await downOf(vendor))]];
    });
    const lists = await Promise.all(all);
    lists.push(['collect', await this.#collecting.pauses.list()], ['feedback', await downOf(this.service)]);
    return Object.fromEntries(lists.filter(([, list]) => list.length > 0));
  }

  /** A short outage is nobody's business. */
  async #tellOutages(): Promise<void> {
    const all = new Map([...this.pipelines].map(([name, { vendor }]) => [name, vendor])).set('feedback', this.service);
    for (const [source, endpoint] of all) {
      if (await endpoint.quota())
        await this.#alerts.raise({ kind: 'paused', source, why: usedUp, remedy: quotaRemedy });
      const down = await endpoint.down({ now: true });
      if (!down || Date.now() - down.since.getTime() < longOutageMs) continue;
      const why = `${down.endpoint} does not answer: ${down.why}`;
      await this.#alerts.raise({ kind: 'paused', source, why, remedy: outageRemedy });
    }
  }

  /** One job, outside its queue: in quarantine. @throws Error for a stage that this configuration doesn't have */
  async runJob({ source, stage, data }: SuspectJob): Promise<StageResult> {
    const stages = [this.#collecting.stage, ...Object.values(this.pipelines.get(source)?.stages ?? {})];
    const found = stages.find(({ queue }) => queue.name === stage);
    if (!found) throw new Error(`source ${source} has no stage ${stage}`);
    return await found.run(data);
  }

  /** Sees that each campaign's collecting is scheduled, and tells of grades that don't come in. */
  async lookAfterCollecting(): Promise<void> {
    await this.#collecting.schedule();
    await this.#collecting.tellOverdue();
  }

  /** One collect job for each campaign now, beside the schedule. */
  async collectNow(): Promise<void> {
    await this.#collecting.now();
  }

  /** Jobs that wait for a worker or run, over all stages; delayed ones are not counted. */
  async busy(): Promise<number> {
    const stages = [...this.pipelines.values()].flatMap(({ stages }) =>
      Object.values(stages).map(({ queue }) => queue),
    );
    const counts = await Promise.all(
      [...stages, this.#collecting.stage.queue].map((queue) =>
        queue.getJobCountByTypes('waiting', 'active', 'prioritized'),
      ),
    );
    return counts.reduce((sum, n) => sum + n, 0);
  }

  /** Finishes what runs, up to `graceMs`; the rest is taken up by another worker, or at the next start. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#rounds.map((rounds) => rounds.stop(graceMs)));
    const stages = [...this.pipelines.values()].flatMap(({ stages }) => Object.values(stages));
    await Promise.all([...stages, this.#collecting.stage].map((stage) => stage.close(graceMs)));
    for (const { plan, erase } of this.#inlets.values()) {
      for (const inlet of [plan, erase]) void inlet.close().catch(() => undefined);
    }
    await this.#orphans.close();
  }

  /** Problems of a rule that can be seen without a record: told now, and what the rule is chosen for waits for a mend. */
  async #checkRules({ context, holds, stages }: SourcePipeline): Promise<void> {
    const stage = stages.plan.queue.name;
    for (const rule of context.rules) {
      try {
        const problem = ruleFault(rule, await campaignOf(rule, context), context);
        if (problem) throw problem;
      } catch (error) {
        const advice = adviceOf(error);
        if (advice.kind === 'config' && advice.only !== undefined && advice.doubtful !== true)
          await holds.set(stage, advice.only, messageOf(error));
        // Else no verdict on the rule: planning meets the same error, and retries.
        else
          context.log.warn(
            { source: context.name, rule: rule.name, why: messageOf(error) },
            'the rule could not be checked',
          );
      }
    }
  }
}

/** As pauses read: it does not answer, or may not be called for long. */
async function downOf(endpoint: Outage): Promise<Stopped[]> {
  const [down, quota] = await Promise.all([endpoint.down({ now: true }), endpoint.quota()]);
  return [
    ...(down ? [{ stage: 'all', why: `${down.endpoint} does not answer: ${down.why}`, at: down.since }] : []),
    ...(quota ? [{ stage: 'all', why: `${usedUp}, until ${quota.until.toISOString()}`, at: quota.since }] : []),
  ];
}
