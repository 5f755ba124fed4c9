import { createHash } from 'node:crypto';
import { type ConnectionOptions, Queue } from 'bullmq';
import pLimit from 'p-limit';
import type { SourceEvent, WriteBack } from '../core/connector.ts';
import { adviceOf } from '../core/errors.ts';
import { createFeedbackClient, type FeedbackClient } from '../core/feedback/client.ts';
import { resolveOperations } from '../core/feedback/operations.ts';
import type { Log, Ports } from '../core/ports.ts';
import { createBatcher } from './batch.ts';
import { CampaignCache } from './campaigns.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config/config.ts';
import type { SourceContext } from './context.ts';
import { ContactMemory } from './journey/contacts.ts';
import { JourneyStore, type RedisClient, tagOf } from './journey/store.ts';
import { openSource } from './open-source.ts';
import { Pauses } from './pauses.ts';
import { loadRule } from './rules.ts';
import { AskJob, ask, giveUpAsk } from './stages/ask.ts';
import { CollectJob, collect, seenKey } from './stages/collect.ts';
import { campaignOf, giveUpPlan, PlanJob, plan, rulesProblems } from './stages/plan.ts';
import { Stage } from './stages/stage.ts';
import { sweep } from './stages/sweep.ts';
import { giveUpWriteBack, WriteBackJob, writeBack } from './stages/write-back.ts';

/** Jobs of one stage at once: ten full vendor batches, so that a thousand records arriving together stay together. */
const concurrency = 1_000;
const defaultBatchWindowMs = 500;
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
  /** For BullMQ: workers and queues. */
  connection: ConnectionOptions;
  /** For intake: fails at once while Redis is away, instead of holding the vendor's request. */
  intakeConnection: ConnectionOptions;
  /** A vendor call leaves when no record has joined it for this long. Default 500 ms. */
  batchWindowMs?: number;
  clock: Clock;
  ports: Ports;
  log: Log;
}

/** Campaigns that anybody was asked in, by when. */
const askedInKey = '{cl}:asked-in';

/** One source with its stages. */
export interface Lane {
  context: SourceContext;
  stages: { plan: Stage<typeof PlanJob>; ask: Stage<typeof AskJob>; writeBack: Stage<typeof WriteBackJob> };
  pauses: Pauses;
}

/** The loop: every source's stages, and the collecting of grades. Built whole; `work` runs jobs in this process. */
export class Engine {
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly #options: EngineOptions;
  readonly #feedback: FeedbackClient;
  readonly #collect: Stage<typeof CollectJob>;
  readonly #collectPauses: Pauses;
  readonly #inlets = new Map<string, Queue>();
  #lostAt = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: EngineOptions) {
    const { config, ports, redis, log, clock } = options;
    this.#options = options;
    this.#feedback = createFeedbackClient(config.feedback, ports);
    const campaigns = new CampaignCache(this.#feedback, campaignKeepMs);
    const limits = { limited: pLimit(serviceCalls), limitedLooks: pLimit(serviceLooks) };
    const lanes = new Map<string, Lane>();
    for (const source of config.sources) {
      lanes.set(
        source.name,
        createLane(source, { options, campaigns, ...limits, feedback: this.#feedback, lanes, onLost: this.#onLost }),
      );
    }
    this.lanes = lanes;
    this.#collectPauses = new Pauses(redis, '{cl}', 'collect', log);
    const troubled = new Map<number, string>();
    this.#collect = new Stage({
      name: 'collect',
      source: 'collect',
      onLost: this.#onLost,
      prefix: '{cl}',
      connection: options.connection,
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
        }),
      giveUp: async ({ campaign }, why) => log.error({ campaign, why }, 'collecting failed; the next pass tries again'),
      onConfigError: (why) => this.#collectPauses.set('collect', why),
      ports,
      log,
    });
  }

  /** The campaigns that any rule asks in. */
  get campaigns(): number[] {
    const all = [...this.lanes.values()].flatMap(({ context }) => context.rules.map(({ campaign }) => campaign));
    return [...new Set(all)].sort((a, b) => a - b);
  }

  /** Connects what `store` writes through. Resolves when Redis answers: the HTTP server listens only then. */
  async openInlets(): Promise<void> {
    for (const [name, { stages }] of this.lanes) {
      const inlet = new Queue(stages.plan.queue.name, {
        prefix: tagOf(name),
        connection: this.#options.intakeConnection,
        defaultJobOptions: stages.plan.queue.opts.defaultJobOptions ?? {},
      });
      inlet.on('error', this.#onLost);
      this.#inlets.set(name, inlet);
      await inlet.waitUntilReady();
    }
  }

  /** Stores a delivery's events in one write. Resolves only when Redis has them. */
  async store(source: string, events: readonly SourceEvent[], receivedAt: Date): Promise<void> {
    const inlet = this.#inlets.get(source);
    if (!inlet) throw new Error(`source ${source} has no inlet: openInlets comes first`);
    await inlet.addBulk(
      events.map((event) => ({ name: 'plan', data: { ...event, receivedAt }, opts: { jobId: jobIdOf(event.key) } })),
    );
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
    const round = async () => {
      for (const lane of this.lanes.values()) {
        await sweep(lane.context, settings);
        await lane.pauses.probe(Object.values(lane.stages).map(({ queue }) => queue));
      }
      await this.#collectPauses.probe([this.#collect.queue]);
    };
    const sweepNow = () => {
      // A round may take longer than the time between two.
      if (isSweeping) return;
      isSweeping = true;
      round()
        .catch((error: unknown) => log.warn({ why: String(error) }, 'sweep failed'))
        .finally(() => {
          isSweeping = false;
        });
    };
    sweepNow();
    this.#sweeper = setInterval(sweepNow, Math.max(1_000, clock.real(sweepEveryMs)));
  }

  /** Every queue and worker meets the same lost connection again and again: it is told once in half a minute. */
  readonly #onLost = (error: Error): void => {
    if (Date.now() - this.#lostAt < lostEveryMs) return;
    this.#lostAt = Date.now();
    const why = error.message || error.name;
    this.#options.log.warn(
      { why },
      'no connection to Redis: deliveries are answered with 503, work goes on when it is back',
    );
  };

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
    clearInterval(this.#sweeper);
    const stages = [...this.lanes.values()].flatMap(({ stages }) => Object.values(stages));
    await Promise.all([...stages, this.#collect].map((stage) => stage.close(graceMs)));
    for (const inlet of this.#inlets.values()) void inlet.close().catch(() => undefined);
  }

  /** Problems of the rules that can be seen without a record: told now, and the source's planning waits for a mend. */
  async #checkRules({ context, pauses, stages }: Lane): Promise<void> {
    const problems: string[] = [];
    for (const rule of context.rules) {
      try {
        const campaign = await campaignOf(rule, context);
        problems.push(...rulesProblems(rule, campaign, context).map((text) => `rule "${rule.name}": ${text}`));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        if (adviceOf(error).kind === 'config') problems.push(why);
        // Else no verdict on the rule: planning meets the same error, and retries.
        else context.log.warn({ source: context.name, rule: rule.name, why }, 'the rule could not be checked');
      }
    }
    if (problems.length === 0) return;
    await stages.plan.queue.pause();
    await pauses.set('plan', [...new Set(problems)].join('; '));
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
    const wanted = new Set(campaigns.map((campaign) => `campaign-${campaign}`));
    for (const { key } of await queue.getJobSchedulers()) if (!wanted.has(key)) await queue.removeJobScheduler(key);
    for (const campaign of campaigns) {
      await queue.upsertJobScheduler(`campaign-${campaign}`, { every }, { name: 'collect', data: { campaign } });
    }
  }
}

function createLane(
  configured: Config['sources'][number],
  shared: {
    options: EngineOptions;
    campaigns: CampaignCache;
    limited: SourceContext['limited'];
    limitedLooks: SourceContext['limitedLooks'];
    lanes: ReadonlyMap<string, Lane>;
    onLost: (error: Error) => void;
    feedback: FeedbackClient;
  },
): Lane {
  const { config, redis, connection, clock, ports, log } = shared.options;
  const { name } = configured;
  const source = openSource(configured, { config, redis, ports, log });
  const pauses = new Pauses(redis, tagOf(name), name, log);
  const batch = { size: source.batchSize, windowMs: shared.options.batchWindowMs ?? defaultBatchWindowMs };
  const reader = (purpose: 'plan' | 'ask') =>
    createBatcher({ ...batch, keyOf: (id: string) => id, run: (ids: readonly string[]) => source.read(ids, purpose) });
  const readers = { plan: reader('plan'), ask: reader('ask') };
  const context: SourceContext = {
    name,
    source,
    rules: configured.rules.map(loadRule),
    store: new JourneyStore(redis, name, { now: clock.now }),
    contacts: new ContactMemory(redis),
    feedback: shared.feedback,
    campaigns: shared.campaigns,
    clock,
    ports,
    log,
    timeZone: config.feedback.timeZone,
    defaultCountry: config.defaultCountry,
    lookAfterMs: config.lookup.after,
    marker: config.marker,
    serviceAddsDelay: !resolveOperations(config.feedback.operations).create.body.scheduled,
    callMs: config.feedback.timeoutMs,
    limited: shared.limited,
    limitedLooks: shared.limitedLooks,
    areOwned: async (requestIds) => {
      const stores = [...shared.lanes.values()].map((lane) => lane.context.store);
      const owners = await Promise.all(stores.map((store) => store.idsOfRequests(requestIds)));
      return requestIds.map((_, i) => owners.some((ids) => ids[i] !== undefined));
    },
    askedIn: async (campaign, late) => {
      await redis.zadd(askedInKey, Date.now(), String(campaign));
      if (late) await redis.del(seenKey(campaign));
    },
    read: (recordId, purpose) => readers[purpose](recordId),
    write: createBatcher({
      ...batch,
      keyOf: ({ marker }: WriteBack) => marker,
      run: (items: readonly WriteBack[]) => source.writeBack(items),
    }),
    queueEvent: async (event) => {
      await stages.plan.add([{ id: jobIdOf(event.key), data: event }]);
    },
    queueAsk: async (journeyId, dueAt) => {
      await stages.ask.add([{ id: `ask-${journeyId}`, data: { journeyId }, delayMs: clock.until(dueAt) }]);
    },
    queueWriteBack: async (journeyIds) => {
      if (journeyIds.length === 0) return;
      // One at a time for a journey: two writes on their way to the vendor could overtake each other.
      await stages.writeBack.addAgain(
        journeyIds.map((journeyId) => ({ id: `write-${journeyId}`, data: { journeyId } })),
      );
    },
  };
  const { onLost } = shared;
  const common = { source: name, prefix: tagOf(name), connection, concurrency, onLost, ports, log };
  const stages: Lane['stages'] = {
    plan: new Stage({
      ...common,
      name: 'plan',
      data: PlanJob,
      process: (data) => plan(data, context),
      giveUp: (data, why) => giveUpPlan(data, why, context),
      onConfigError: (why) => pauses.set('plan', why),
    }),
    ask: new Stage({
      ...common,
      name: 'ask',
      data: AskJob,
      process: (data) => ask(data, context),
      giveUp: (data, why) => giveUpAsk(data, why, context),
      onConfigError: (why) => pauses.set('ask', why),
    }),
    writeBack: new Stage({
      ...common,
      name: 'write-back',
      data: WriteBackJob,
      process: (data) => writeBack(data, context),
      giveUp: (data, why) => giveUpWriteBack(data, why, context),
      onConfigError: (why) => pauses.set('write-back', why),
    }),
  };
  return { context, stages, pauses };
}

/** BullMQ forbids ':' and plain numbers in ids; events' keys may hold anything. */
function jobIdOf(key: string): string {
  return `event-${createHash('sha256').update(key).digest('base64url')}`;
}
