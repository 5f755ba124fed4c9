import type { FeedbackClient } from '../../../core/feedback/client.ts';
import { canFilterBy, resolveOperations } from '../../../core/feedback/operations.ts';
import { campaignNumbers } from '../../config/campaign-choice.ts';
import type { AlertOfSource, Alerts } from '../../operations/alerts.ts';
import type { Outage } from '../../operations/outage.ts';
import { type Pause, Pauses, probeTurnMs } from '../../operations/pauses.ts';
import type { RedisClient } from '../../redis/client.ts';
import { absentKey, askedInKey, begunKey, failingKey, globalTag } from '../../redis/keys.ts';
import { probe } from '../../redis/unavailable.ts';
import { type EngineOptions, sweepIntervalOf } from '../engine-options.ts';
import { JobQueue } from '../job-queue.ts';
import { CollectJob } from '../jobs.ts';
import type { Policy } from '../policy/source-policy.ts';
import type { LoadedRule } from '../rules.ts';
import { Stage } from '../stage.ts';
import type { CollectedSource } from './answers.ts';
import { collect } from './collect.ts';

interface CollectingOptions {
  engine: EngineOptions;
  feedback: FeedbackClient;
  /** Whether the service answers. */
  service: Outage;
  alerts: Alerts;
  sources: () => Promise<(CollectedSource & Pick<Policy, 'rules'>)[]>;
  /** The campaigns that any rule of this configuration asks in. */
  campaigns: readonly number[];
  onLost: (error: Error) => void;
}

/** Collects grades for all sources: one queue, and one schedule per campaign. */
export class Collecting {
  readonly stage: Stage<typeof CollectJob>;
  readonly pauses: Pauses;
  readonly #options: CollectingOptions;
  #overdue: readonly string[] = [];

  constructor(options: CollectingOptions) {
    this.#options = options;
    const { engine, feedback, service, alerts, sources, onLost } = options;
    const { config, redis, log, clock, ports, observer, tracing } = engine;
    const onStop = (_stage: string, why: string) =>
      alerts.raise({ kind: 'paused', source: 'collect', why, remedy: 'mend it: no grades come in until then' });
    this.pauses = new Pauses(redis, globalTag, 'collect', log, onStop, probeTurnMs(sweepIntervalOf(engine)));
    const lastErrors = new Map<number, string>();
    const { connection } = engine;
    const alert = alerts.of('collect');
    const operations = resolveOperations(config.feedback.operations);
    const narrowed = {
      changedSince: canFilterBy(operations, '{changedSince}'),
      dateFrom: canFilterBy(operations, '{dateFrom}'),
    };
    this.stage = new Stage({
      jobs: new JobQueue({
        name: 'collect',
        prefix: globalTag,
        connection,
        data: CollectJob,
        telemetry: tracing?.telemetry,
        onLost,
      }),
      source: 'collect',
      probe: () => probe(redis, globalTag),
      concurrency: 4,
      endpoints: [service],
      process: async (data) =>
        await collect(data, {
          redis,
          feedback,
          sources,
          clock,
          log,
          fullEveryMs: config.collect.fullEvery,
          narrowed,
          lastErrors,
          alert,
        }),
      // The schedule begins the next pass.
      giveUp: async ({ campaign }, why) => log.error({ campaign, why }, 'collecting failed; the next pass tries again'),
      onDone: () => this.pauses.cameThrough(this.stage.jobs.queue),
      onConfigError: (why) => this.pauses.set('collect', why),
      alert,
      ports,
      log,
      observer,
    });
  }

  /** A dry run has no grades to collect, so this method and those below do nothing in a dry run. */
  async start(): Promise<void> {
    if (this.#isDry) return;
    await this.pauses.clear([this.stage.jobs.queue]);
    await this.schedule();
    this.stage.start();
  }

  /** Adds one job for each campaign now, beside the schedule. */
  async now(): Promise<void> {
    if (this.#isDry) return;
    const campaigns = await this.#campaigns();
    await this.stage.jobs.add(campaigns.map((campaign) => ({ id: `now-${campaign}`, data: { campaign } })));
  }

  async schedule(): Promise<void> {
    const { config, clock } = this.#options.engine;
    const { queue } = this.stage.jobs;
    const every = Math.max(50, clock.real(config.collect.every));
    const campaigns = await this.#campaigns();
    const wanted = new Map(campaigns.map((campaign) => [`campaign-${campaign}`, campaign]));
    for (const known of await queue.getJobSchedulers()) {
      // If the clock was set back, the next pass would be as much later.
      const isStuck = (known.next ?? 0) > Date.now() + 2 * every;
      const isWhole = wanted.has(known.key) && known.every === every && !isStuck;
      if (isWhole && !(await this.#hasLostJob(known.key, known.next))) wanted.delete(known.key);
      else await queue.removeJobScheduler(known.key);
    }
    for (const [key, campaign] of wanted) {
      await queue.upsertJobScheduler(key, { every }, { name: 'collect', data: { campaign } });
    }
  }

  /** BullMQ adds a schedule's next job when a job begins: a schedule whose job is missing (lost or removed) stops for good. */
  async #hasLostJob(key: string, next: number | undefined): Promise<boolean> {
    const { queue } = this.stage.jobs;
    const job = await queue.getJob(`repeat:${key}:${next}`);
    if (job && (await job.getState()) !== 'unknown') return false;
    // The job may have begun and ended meanwhile.
    if ((await queue.getJobScheduler(key))?.next !== next) return false;
    this.#options.engine.log.warn({ schedule: key }, 'a schedule of collecting had lost its job, and is made anew');
    return true;
  }

  /** Restores missing schedules, and alerts a person if grades do not come in. */
  async maintain(): Promise<void> {
    if (this.#isDry) return;
    await this.schedule();
    await this.#alertOverdue();
  }

  /** Lets collecting that was stopped try again. */
  async probe(): Promise<void> {
    if (!this.#isDry) await this.pauses.probe([this.stage.jobs.queue]);
  }

  /** The pauses of collecting. */
  async paused(): Promise<Pause[]> {
    return this.#isDry ? [] : await this.pauses.list();
  }

  get #isDry(): boolean {
    return this.#options.engine.config.dryRun;
  }

  async #alertOverdue(): Promise<void> {
    const { engine, alerts, sources } = this.#options;
    const overdue = await alertOverdue(await this.#campaigns(), {
      redis: engine.redis,
      sources,
      alert: alerts.of('collect'),
      everyMs: engine.clock.real(engine.config.collect.every),
    });
    for (const why of overdue) if (!this.#overdue.includes(why)) engine.log.error({ why }, 'grades do not come in');
    this.#overdue = overdue;
  }

  /** The campaigns of the rules, and of earlier rules whose requests may still be answered. */
  async #campaigns(): Promise<number[]> {
    const { engine, campaigns } = this.#options;
    const { config, redis } = engine;
    await redis.zremrangebyscore(askedInKey, '-inf', `${Date.now() - 2 * config.expireAfter}`);
    const asked = await redis.zrange(askedInKey, '0', '-1');
    return [...new Set([...campaigns, ...asked.map(Number)])];
  }
}

/** A person is alerted when no grades have come in for this time. Real time. */
const overdueMs = 86_400_000;
/** How many passes may be missed, and the least time before that counts: a worker may be restarted, and a pass may take long. */
const missedPasses = 20;
const leastMs = 900_000;

interface OverdueOptions {
  redis: RedisClient;
  sources: () => Promise<{ rules: readonly Pick<LoadedRule, 'campaign'>[] }[]>;
  alert: AlertOfSource;
  /** The time from one pass to the next. Real time. */
  everyMs: number;
}

/**
 * Alerts a person to campaigns whose grades do not come in: every pass fails, or no pass begins any more. Runs outside the passes,
 * as a pass that does not run reports nothing. @returns the reasons
 */
export async function alertOverdue(campaigns: readonly number[], options: OverdueOptions): Promise<string[]> {
  const reported: string[] = [];
  for (const campaign of campaigns) {
    const overdue = await overdueOf(campaign, options);
    if (!overdue) continue;
    reported.push(overdue.why);
    await options.alert('paused', overdue.why, overdue.remedy);
  }
  return reported;
}

async function overdueOf(campaign: number, { redis, sources, everyMs }: OverdueOptions) {
  const field = String(campaign);
  const now = Date.now();
  // For a new campaign the time begins now.
  await redis.hsetnx(begunKey, field, now);
  const begun = Number(await redis.hget(begunKey, field));
  if (now - begun > Math.max(missedPasses * everyMs, leastMs)) {
    const why = `campaign ${campaign}: no pass over its grades begins any more`;
    return {
      why,
      remedy: 'see that a worker runs ("closeloop start"), and what of it is stopped ("closeloop status")',
    };
  }
  const failing = await redis.hget(failingKey, field);
  if (failing === null || now - Number(failing) <= overdueMs) return undefined;
  const why = `campaign ${campaign}: its grades have not come in for a day`;
  if ((await redis.sismember(absentKey, field)) === 0)
    return { why, remedy: 'see "grades could not be collected" in the log' };
  // If no rule asks in a campaign any more, a person has given the campaign up on purpose.
  const isAsked = (await sources()).some(({ rules }) => campaignNumbers(rules).includes(campaign));
  if (!isAsked) return undefined;
  return { why: `${why}: it is inactive, or of another account`, remedy: 'activate it, or remove the rule' };
}
