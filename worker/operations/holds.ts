import type { Queue } from 'bullmq';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { shared } from '../redis/shared.ts';
import { probeTurnMs } from './pauses.ts';

/** Ends a hold, and notes in the same step that its jobs have to be queued again. KEYS holds, lifted · ARGV field */
const liftScript = `
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('SADD', KEYS[2], ARGV[1])
return 1`;

/** How many held jobs are queued again at once. */
const chunk = 100;
/** Jobs that ended for another reason stay in the list of held jobs: a probe passes over at most this many of them. */
const mostGone = 20;

/** The jobs that wait for the end of a hold, by the hold's field: its stage and what is faulty (holds.ts). */
export class HeldJobs {
  readonly #redis: RedisClient;
  readonly #tag: string;
  readonly #queues: () => readonly Queue[];

  constructor(redis: RedisClient, tag: string, queues: () => readonly Queue[]) {
    this.#redis = redis;
    this.#tag = tag;
    this.#queues = queues;
  }

  async add(field: string, jobId: string): Promise<void> {
    await this.#redis.sadd(this.#jobs(field), jobId);
  }

  async count(field: string): Promise<number> {
    return await this.#redis.scard(this.#jobs(field));
  }

  /** Ends the hold. Its jobs have to be queued again: `promoteAll`. @returns false where another process has ended it */
  async lift(holds: string, field: string): Promise<boolean> {
    return (await runScript(this.#redis, liftScript, [holds, this.#lifted], field)) === 1;
  }

  /** Finishes lifting the holds of a process that was killed while it lifted them. */
  async finishLifts(): Promise<void> {
    for (const field of await this.#redis.smembers(this.#lifted)) await this.promoteAll(field);
  }

  /** Queues one of the jobs as a probe. */
  async promoteOne(field: string, queue = this.#queueOf(field)): Promise<void> {
    for (const id of await this.#redis.srandmember(this.#jobs(field), mostGone)) {
      if (queue && (await promote(queue, id))) return;
      await this.#redis.srem(this.#jobs(field), id);
    }
  }

  /** Queues all jobs of a hold that was lifted. */
  async promoteAll(field: string): Promise<void> {
    const queue = this.#queueOf(field);
    for (;;) {
      const ids = await this.#redis.srandmember(this.#jobs(field), chunk);
      if (ids.length === 0) break;
      await Promise.all(ids.map(async (id) => queue && (await promote(queue, id))));
      // Last: after a kill in between the next sweep finds the other jobs.
      await this.#redis.srem(this.#jobs(field), ...ids);
    }
    await this.#redis.srem(this.#lifted, field);
  }

  #queueOf(field: string): Queue | undefined {
    const [stage] = splitOnce(field);
    return this.#queues().find(({ name }) => name === stage);
  }

  /** A set: the lifted holds whose jobs may not all be queued again yet. */
  get #lifted(): string {
    return `${this.#tag}:holds:lifted`;
  }

  #jobs(field: string): string {
    return `${this.#tag}:held:${field}`;
  }
}

/** The stage of a hold's field, which has no space in its name, and what is faulty. */
export function splitOnce(field: string): [string, string] {
  const at = field.indexOf(' ');
  return [field.slice(0, at), field.slice(at + 1)];
}

/** Queues a job that waits for its time. False: the job is gone, or does not wait any more. */
export async function promote(queue: Queue, id: string): Promise<boolean> {
  const job = await queue.getJob(id);
  if (!job || !(await job.isDelayed())) return false;
  return await job.promote().then(
    () => true,
    async (error: unknown) => {
      if (await job.isDelayed()) throw error;
      return false;
    },
  );
}

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
      if ((await this.#redis.set(this.#turn(field), 1, 'PX', this.#probeEveryMs, 'NX')) !== null)
        await this.#try(field);
    }
  }

  /** As `probe`, at once: whatever holds up the stage of this queue. @returns what is faulty */
  async tryNow(queue: Queue): Promise<string[]> {
    const held = (await this.list()).filter(({ stage }) => stage === queue.name);
    for (const { stage, only } of held) await this.#try(fieldOf(stage, only), queue);
    return held.map(({ only }) => only);
  }

  async #try(field: string, queue?: Queue): Promise<void> {
    await this.#redis.set(this.#ticket(field), 1, 'PX', ticketMs);
    await this.#jobs.promoteOne(field, queue);
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
