import type { Queue } from 'bullmq';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import type { RedisClient } from '../redis/client.ts';
import { shared } from '../redis/shared.ts';
import { HeldJobs, splitOnce } from './held-jobs.ts';
import { probeTurnMs } from './probe-turn.ts';

const Hold = z.object({ why: z.string(), at: z.coerce.date() });
/** How long a ticket is valid: a job that comes for it later finds none. Real time. */
const ticketMs = 600_000;
export interface Held {
  stage: string;
  /** 'campaign 12', 'rule "phone team"', 'operation create'. */
  only: string;
  why: string;
  at: Date;
  /** How many jobs wait for the hold's end. */
  jobs: number;
}

/**
 * Holds: a fault of a campaign, a rule or an operation's form stops only those jobs of a stage that need the faulty part, in all
 * processes of a source. An alert is raised once, and `status` shows the hold until the fault is mended. One held job at a time
 * gets a ticket and runs as a probe; once a probe succeeds, all held jobs are queued again.
 */
export class Holds {
  readonly #redis: RedisClient;
  readonly #tag: string;
  readonly #source: string;
  readonly #log: Log;
  readonly #onNews: (held: Pick<Held, 'stage' | 'only' | 'why'>) => Promise<void>;
  readonly #jobs: HeldJobs;
  /** The shortest time between two probes of a hold, over all processes. */
  readonly #probeEveryMs: number;
  /** The holds in force, by stage and faulty part. Cached: every job asks, and nearly always there are none. */
  readonly #standing: () => Promise<Record<string, string>>;

  constructor(options: {
    redis: RedisClient;
    tag: string;
    source: string;
    log: Log;
    onNews: (held: Pick<Held, 'stage' | 'only' | 'why'>) => Promise<void>;
    /** The queues whose jobs may be held. */
    queues: () => readonly Queue[];
    /** Default: `probeTurnMs`. */
    probeEveryMs?: number;
  }) {
    this.#redis = options.redis;
    this.#tag = options.tag;
    this.#source = options.source;
    this.#log = options.log;
    this.#onNews = options.onNews;
    this.#jobs = new HeldJobs(options.redis, options.tag, options.queues);
    this.#probeEveryMs = options.probeEveryMs ?? probeTurnMs();
    this.#standing = shared(() => this.#redis.hgetall(this.#all));
  }

  /**
   * Called by a job before it uses these parts.
   * @throws CloseloopError config, with the hold's reason, while one of the parts is held and the job has no ticket for it
   */
  async pass(stage: string, needs: readonly string[]): Promise<void> {
    const standing = await this.#standing();
    for (const only of needs) {
      const text = standing[fieldOf(stage, only)];
      if (text === undefined) continue;
      if ((await this.#redis.getdel(this.#ticket(fieldOf(stage, only)))) !== null) continue;
      throw new CloseloopError(Hold.parse(JSON.parse(text)).why, { kind: 'config', only });
    }
  }

  /** @param jobId the job that waits for the hold's end from now on; undefined: no job does yet */
  async set(stage: string, only: string, why: string, jobId?: string): Promise<void> {
    const field = fieldOf(stage, only);
    const stored = await this.#redis.hget(this.#all, field);
    const known = stored === null ? undefined : Hold.parse(JSON.parse(stored));
    if (known?.why !== why) {
      const hold = JSON.stringify({ why, at: known?.at ?? new Date() });
      // The alert comes first: a process that is killed in between, or loses Redis, must not leave a stop without an alert.
      await this.#onNews({ stage, only, why });
      const isFirst = known
        ? await this.#redis.hset(this.#all, field, hold).then(() => true)
        : (await this.#redis.hsetnx(this.#all, field, hold)) === 1;
      if (isFirst)
        this.#log.error({ source: this.#source, stage, only, why }, 'held up: nothing is lost, somebody has to act');
    }
    if (jobId !== undefined) await this.#jobs.add(field, jobId);
  }

  async stands(stage: string, only: string): Promise<boolean> {
    return (await this.#redis.hexists(this.#all, fieldOf(stage, only))) === 1;
  }

  /** A job of the stage that used all of these parts has succeeded. */
  async lift(stage: string, needs: readonly string[]): Promise<void> {
    const standing = await this.#standing();
    for (const only of needs) {
      const field = fieldOf(stage, only);
      if (standing[field] === undefined) continue;
      if (!(await this.#jobs.lift(this.#all, field))) continue;
      this.#log.info({ source: this.#source, stage, only }, 'goes on');
      await this.#jobs.promoteAll(field);
    }
  }

  async list(): Promise<Held[]> {
    const all = Object.entries(await this.#redis.hgetall(this.#all));
    return await Promise.all(
      all.map(async ([field, text]) => {
        const [stage = '', only = ''] = splitOnce(field);
        const jobs = await this.#jobs.count(field);
        return { stage, only, ...Hold.parse(JSON.parse(text)), jobs };
      }),
    );
  }

  /** At the start of a worker: somebody may have mended the configuration. */
  async clear(): Promise<void> {
    await this.#jobs.finishLifts();
    for (const { stage, only } of await this.list()) await this.lift(stage, [only]);
  }

  /** Queues one job of each hold as a probe of whether the fault is mended. */
  async probe(): Promise<void> {
    await this.#jobs.finishLifts();
    for (const { stage, only } of await this.list()) {
      const field = fieldOf(stage, only);
      if ((await this.#redis.set(this.#turn(field), 1, 'PX', this.#probeEveryMs, 'NX')) === null) continue;
      await this.#redis.set(this.#ticket(field), 1, 'PX', ticketMs);
      await this.#jobs.promoteOne(field);
    }
  }

  get #all(): string {
    return `${this.#tag}:holds`;
  }

  /** While this key exists no process sends another probe. */
  #turn(field: string): string {
    return `${this.#tag}:hold-turn:${field}`;
  }

  #ticket(field: string): string {
    return `${this.#tag}:hold-ticket:${field}`;
  }
}

/** Stages have no spaces in their names. */
const fieldOf = (stage: string, only: string): string => `${stage} ${only}`;
