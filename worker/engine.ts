import { type ConnectionOptions, Queue } from 'bullmq';
import pLimit from 'p-limit';
import { z } from 'zod';
import type { SourceEvent } from '../core/connector.ts';
import { adviceOf, messageOf } from '../core/errors.ts';
import { createFeedbackClient, type FeedbackClient } from '../core/feedback/client.ts';
import type { Log, Ports } from '../core/ports.ts';
import { Alerts } from './alerts.ts';
import { CampaignCache } from './campaigns.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config/config.ts';
import { type RedisClient, tagOf } from './journey/store.ts';
import { askedInKey, createLane, foreignRemedy, jobIdOf, type Lane } from './lane.ts';
import { Pauses } from './pauses.ts';
import type { Quarantine, SuspectJob } from './quarantine.ts';
import type { Replicated } from './redis/replicated.ts';
import type { Seal } from './redis/seal.ts';
import { probe } from './redis/trouble.ts';
import { CollectJob, collect } from './stages/collect.ts';
import { campaignOf, rulesProblems } from './stages/decide.ts';
import { EraseJob } from './stages/erase.ts';
import { PlanJob } from './stages/plan.ts';
import { Stage, type StageResult } from './stages/stage.ts';
import { sweep } from './stages/sweep.ts';
import type { WriteBackJob } from './stages/write-back.ts';

/** Calls to the Feedback service at once, per process. */
const serviceCalls = 20;
/** Searches for requests of unknown outcome at once, per process: each reads an export. */
const serviceLooks = 2;
const campaignKeepMs = 60_000;
const sweepEveryMs = 60_000;
const lostEveryMs = 30_000;

export interface EngineOptions {
  config: Config;
  redis: RedisClient;
  /** The installation's: `openSeal`. */
  seal: Seal;
  /** For BullMQ: workers and queues. */
  connection: ConnectionOptions;
  /** For intake: fails at once while Redis is away, instead of holding the vendor's request. */
  intakeConnection: () => ConnectionOptions;
  replicated: Replicated;
  /** A vendor call leaves when no record has joined it for this long. Default 500 ms. */
  batchWindowMs?: number;
  /** How often what nothing else would notice is looked for, of the clock's time. Default a minute. */
  sweepEveryMs?: number;
  clock: Clock;
  ports: Ports;
  log: Log;
  /** For jobs that are suspected of crashing the process; left out: they run like any other. */
  quarantine?: Quarantine;
}

/** The loop: every source's stages, and the collecting of grades. Built whole; `work` runs jobs in this process. */
export class Engine {
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly #options: EngineOptions;
  readonly #feedback: FeedbackClient;
  readonly #alerts: Alerts;
  readonly #collect: Stage<typeof CollectJob>;
  readonly #collectPauses: Pauses;
  readonly #inlets = new Map<string, { plan: Queue; erase: Queue }>();
  #lostAt = 0;
  #isClosed = false;
  #sweeper: NodeJS.Timeout | undefined;
  #poller: NodeJS.Timeout | undefined;
  readonly #polling = new Set<string>();

  constructor(options: EngineOptions) {
    const { config, ports, redis, log, clock } = options;
    this.#options = options;
    this.#feedback = createFeedbackClient(config.feedback, ports);
    this.#alerts = new Alerts(redis, config.alerts, { fetch: ports.fetch, now: () => new Date() }, log);
    const campaigns = new CampaignCache(this.#feedback, campaignKeepMs);
    const limits = { limited: pLimit(serviceCalls), limitedLooks: pLimit(serviceLooks) };
    const lanes = new Map<string, Lane>();
    for (const source of config.sources) {
      lanes.set(
        source.name,
        createLane(source, {
          options,
          campaigns,
          ...limits,
          feedback: this.#feedback,
          alerts: this.#alerts,
          lanes,
          onLost: this.#onLost,
        }),
      );
    }
    this.lanes = lanes;
    this.#collectPauses = new Pauses(redis, '{cl}', 'collect', log, (_stage, why) =>
      this.#alerts.raise({ kind: 'paused', source: 'collect', why, remedy: 'mend it: no grades come in until then' }),
    );
    const troubled = new Map<number, string>();
    this.#collect = new Stage({
      name: 'collect',
      source: 'collect',
      onLost: this.#onLost,
      prefix: '{cl}',
      connection: options.connection,
      probe: () => probe(redis, '{cl}'),
      data: CollectJob,
      concurrency: 4,
      process: (data) =>
        collect(data, {
          redis,
          feedback: this.#feedback,
          sources: [...lanes.values()].map(({ context }) => context),
          clock,
          log,
          fullEveryMs: config.collect.fullEvery,
          troubled,
          alert: (kind, why, remedy) => this.#alerts.raise({ kind, source: 'collect', why, remedy }),
        }),
      giveUp: async ({ campaign }, why) => log.error({ campaign, why }, 'collecting failed; the next pass tries again'),
      onConfigError: (why) => this.#collectPauses.set('collect', why),
      onForeign: (why) => this.#alerts.raise({ kind: 'to-do', source: 'collect', why, remedy: foreignRemedy }),
      ports,
      log,
      ...(options.quarantine && { quarantine: options.quarantine }),
    });
  }

  /** The campaigns that any rule asks in. */
  get campaigns(): number[] {
    const all = [...this.lanes.values()].flatMap(({ context }) => context.rules.map(({ campaign }) => campaign));
    return [...new Set(all)].sort((a, b) => a - b);
  }

  /** What brings grades in, and then what writes them back. */
  get gradeStages(): (Stage<typeof CollectJob> | Stage<typeof WriteBackJob>)[] {
    return [this.#collect, ...[...this.lanes.values()].map(({ stages }) => stages.writeBack)];
  }

  /** Connects what `store` writes through. Resolves when Redis answers: the HTTP server listens only then. */
  async openInlets(): Promise<void> {
    for (const [name, { stages }] of this.lanes) {
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

  /** Stores a delivery's events in one write. Resolves only when Redis has them, and a replica of it, if there is one. */
  async store(source: string, events: readonly SourceEvent[], receivedAt: Date): Promise<void> {
    const inlet = this.#inlets.get(source);
    if (!inlet) throw new Error(`source ${source} has no inlet: openInlets comes first`);
    // Acknowledged is only what can be worked on.
    for (const event of events) {
      const { error } = (event.kind === 'erase' ? EraseJob : PlanJob).safeParse({ ...event, receivedAt });
      if (error) throw new Error(`its connector has made an event that is none: ${z.prettifyError(error)}`);
    }
    const add = async (queue: Queue, some: readonly SourceEvent[]): Promise<void> => {
      if (some.length === 0) return;
      const jobs = some.map((event) => ({ data: { ...event, receivedAt }, opts: { jobId: jobIdOf(event.key) } }));
      await queue.addBulk(jobs.map((job) => ({ name: queue.name, ...job })));
    };
    await add(
      inlet.plan,
      events.filter(({ kind }) => kind !== 'erase'),
    );
    await add(
      inlet.erase,
      events.filter(({ kind }) => kind === 'erase'),
    );
    await this.#options.replicated(tagOf(source));
  }

  /** Runs jobs in this process, resumes what was stopped for a configuration error, and checks the rules. */
  async work(): Promise<void> {
    const { config, clock, log } = this.#options;
    for (const lane of this.lanes.values()) {
      await lane.pauses.clear(Object.values(lane.stages).map(({ queue }) => queue));
      await this.#checkRules(lane);
      for (const stage of Object.values(lane.stages)) stage.start();
    }
    await this.#collectPauses.clear([this.#collect.queue]);
    await this.#scheduleCollecting();
    this.#collect.start();
    const settings = { expireAfterMs: config.expireAfter, retentionMs: config.retention.journeys };
    let isSweeping = false;
    // Each step by itself: one that fails must hold up neither the other sources nor the alerts.
    const tried = async (source: string, step: string, work: () => Promise<void>) => {
      await work().catch((error: unknown) => log.warn({ source, step, why: String(error) }, 'sweep failed'));
    };
    const round = async () => {
      for (const [name, { context, pauses, stages }] of this.lanes) {
        const queues = Object.values(stages).map(({ queue }) => queue);
        await tried(name, 'sweep', () => sweep(context, settings));
        await tried(name, 'probe', () => pauses.probe(queues));
      }
      await tried('collect', 'schedule', () => this.#scheduleCollecting());
      await tried('collect', 'probe', () => this.#collectPauses.probe([this.#collect.queue]));
      await tried('alerts', 'send', () => this.#alerts.send());
    };
    const sweepNow = () => {
      // A round may take longer than the time between two.
      if (isSweeping) return;
      isSweeping = true;
      void round().finally(() => {
        isSweeping = false;
      });
    };
    sweepNow();
    const everyMs = this.#options.sweepEveryMs ?? Math.max(1_000, clock.real(sweepEveryMs));
    this.#sweeper = setInterval(sweepNow, everyMs);
    this.#pollAll();
    // Each source keeps to `poll.every` by itself; a look in between is a look into Redis.
    this.#poller = setInterval(() => this.#pollAll(), Math.max(100, Math.min(everyMs, config.poll.every)));
  }

  /** Each source by itself: one whose vendor is slow, or has little quota left, holds up nobody else. */
  #pollAll(): void {
    for (const [name, lane] of this.lanes) {
      if (this.#polling.has(name)) continue;
      this.#polling.add(name);
      lane
        .poll()
        .catch((error: unknown) => this.#options.log.warn({ source: name, why: String(error) }, 'poll failed'))
        .finally(() => this.#polling.delete(name));
    }
  }

  /** Every queue and worker meets the same lost connection again and again: it is told once in half a minute. */
  readonly #onLost = (error: Error): void => {
    if (Date.now() - this.#lostAt < lostEveryMs) return;
    this.#lostAt = Date.now();
    const why = error.message || error.name;
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
      !(await probe(redis, '{cl}').then(
        () => true,
        () => false,
      ))
    )
      await ports.sleep(1_000);
    this.#isTellingBack = false;
    if (!this.#isClosed) log.info({}, 'Redis takes writes again');
  }

  /** What has been stopped for a configuration error, by source; `collect` stands for the collecting of grades. */
  async paused(): Promise<Record<string, { stage: string; why: string; at: Date }[]>> {
    const all = [...this.lanes].map(([name, { pauses }]) => [name, pauses] as const);
    const lists = await Promise.all(
      [...all, ['collect', this.#collectPauses] as const].map(
        async ([name, pauses]) => [name, await pauses.list()] as const,
      ),
    );
    return Object.fromEntries(lists.filter(([, list]) => list.length > 0));
  }

  /** One job, outside its queue: in quarantine. @throws Error for a stage that this configuration doesn't have */
  async runJob({ source, stage, data }: SuspectJob): Promise<StageResult> {
    const stages = [this.#collect, ...Object.values(this.lanes.get(source)?.stages ?? {})];
    const found = stages.find(({ queue }) => queue.name === stage);
    if (!found) throw new Error(`source ${source} has no stage ${stage}`);
    return await found.run(data);
  }

  /** One collect job for each campaign now, beside the schedule. */
  async collectNow(): Promise<void> {
    const campaigns = await this.#campaignsToCollect();
    await this.#collect.add(campaigns.map((campaign) => ({ id: `now-${campaign}`, data: { campaign } })));
  }

  /** Jobs that wait for a worker or run, over all stages; delayed ones are not counted. */
  async busy(): Promise<number> {
    const stages = [...this.lanes.values()].flatMap(({ stages }) => Object.values(stages).map(({ queue }) => queue));
    const counts = await Promise.all(
      [...stages, this.#collect.queue].map((queue) => queue.getJobCountByTypes('waiting', 'active', 'prioritized')),
    );
    return counts.reduce((sum, n) => sum + n, 0);
  }

  /** Finishes what runs, up to `graceMs`; the rest is taken up by another worker, or at the next start. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    clearInterval(this.#poller);
    const stages = [...this.lanes.values()].flatMap(({ stages }) => Object.values(stages));
    await Promise.all([...stages, this.#collect].map((stage) => stage.close(graceMs)));
    for (const { plan, erase } of this.#inlets.values()) {
      for (const inlet of [plan, erase]) void inlet.close().catch(() => undefined);
    }
  }

  /** Problems of the rules that can be seen without a record: told now, and the source's planning waits for a mend. */
  async #checkRules({ context, pauses, stages }: Lane): Promise<void> {
    const problems: string[] = [];
    for (const rule of context.rules) {
      try {
        const campaign = await campaignOf(rule, context);
        problems.push(...rulesProblems(rule, campaign, context).map((text) => `rule "${rule.name}": ${text}`));
      } catch (error) {
        const why = messageOf(error);
        if (adviceOf(error).kind === 'config') problems.push(why);
        // Else no verdict on the rule: planning meets the same error, and retries.
        else context.log.warn({ source: context.name, rule: rule.name, why }, 'the rule could not be checked');
      }
    }
    if (problems.length === 0) return;
    await pauses.set('plan', [...new Set(problems)].join('; '));
    await stages.plan.queue.pause();
  }

  /** Those of the rules, and those of earlier rules whose requests may still be answered. */
  async #campaignsToCollect(): Promise<number[]> {
    const { config, redis } = this.#options;
    await redis.zremrangebyscore(askedInKey, '-inf', `${Date.now() - 2 * config.expireAfter}`);
    const asked = await redis.zrange(askedInKey, '0', '-1');
    return [...new Set([...this.campaigns, ...asked.map(Number)])];
  }

  async #scheduleCollecting(): Promise<void> {
    const { config, clock } = this.#options;
    const { queue } = this.#collect;
    const every = Math.max(50, clock.real(config.collect.every));
    const campaigns = await this.#campaignsToCollect();
    const wanted = new Map(campaigns.map((campaign) => [`campaign-${campaign}`, campaign]));
    for (const known of await queue.getJobSchedulers()) {
      // A clock that was set back since leaves the next pass as far away.
      const isStuck = (known.next ?? 0) > Date.now() + 2 * every;
      if (wanted.has(known.key) && known.every === every && !isStuck) wanted.delete(known.key);
      else await queue.removeJobScheduler(known.key);
    }
    for (const [key, campaign] of wanted) {
      await queue.upsertJobScheduler(key, { every }, { name: 'collect', data: { campaign } });
    }
  }
}
