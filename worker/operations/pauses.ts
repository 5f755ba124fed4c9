import type { Queue } from 'bullmq';
import { z } from 'zod';
import type { Log } from '../../core/ports.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import type { PausableStep } from './pausable-steps.ts';

/** How often each process sweeps by default. Real time. */
export const sweepEveryMs = 60_000;

/**
 * The shortest time between two probes of what is stopped or held, over all processes. Sweeps send the probes: the turn ends before the
 * next sweep of the process that took it. Real time.
 */
export const probeTurnMs = (everyMs = sweepEveryMs): number => Math.floor((everyMs * 5) / 6);

const Pause = z.object({
  why: z.string(),
  at: z.coerce.date(),
  /** user@host of the person who paused the stage. Undefined: the stage stopped itself for a configuration error. */
  by: z.string().optional(),
  /** One job at a time is tried, to find out whether the cause is mended. */
  isProbing: z.boolean().optional(),
});

export interface Pause extends z.output<typeof Pause> {
  stage: string;
}

/** A step that a person has paused, or that stopped by itself. */
export function pausedInWords({ stage, why, at, by }: Pause, of = ''): string {
  return `step ${stage}${of} is ${by === undefined ? 'stopped' : `paused by ${by}`} since ${at.toISOString()}: ${why}`;
}

/** How often a process reads in Redis whether a stage whose jobs succeed had been stopped: at most once in this time. Real time. */
const readEveryMs = 1_000;
/** The time in which a resumed stage's queue is resumed, too: until then sweeps leave a paused queue without a pause alone. Real time. */
const resumingMs = 10_000;
const unknown = 'it stood still, and why is not known any more: the log tells';
const byPerson = 'by-person:';

/** Stops a stage. Returns 1 when no alert was raised for this reason yet. KEYS pauses, reported reasons, turn · ARGV stage, reason, now, ms until a probe */
const setScript = `
local known = redis.call('HGET', KEYS[1], ARGV[1])
local at = known and cjson.decode(known).at or ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode({ why = ARGV[2], at = at }))
redis.call('SET', KEYS[3], 1, 'PX', ARGV[4])
return redis.call('SADD', KEYS[2], ARGV[1] .. ': ' .. ARGV[2])`;

/** Begins a probe. Returns 1 when the stage is stopped. KEYS pauses · ARGV stage */
const probingScript = `
local pause = redis.call('HGET', KEYS[1], ARGV[1])
if not pause then return 0 end
local noted = cjson.decode(pause)
noted.isProbing = true
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(noted))
return 1`;

/** Ends a stop. Returns 1 when the stage had been stopped. KEYS pauses, reported reasons · ARGV stage */
const liftScript = `
local pause = redis.call('HGET', KEYS[1], ARGV[1])
if not pause then return 0 end
redis.call('SREM', KEYS[2], ARGV[1] .. ': ' .. cjson.decode(pause).why)
return redis.call('HDEL', KEYS[1], ARGV[1])`;

/**
 * The stages of a source that do no work, in all processes: stages that stopped for a configuration error, and stages that a
 * person has paused. A configuration error raises one alert per reason, not one per job, and one job a minute is tried to find out
 * whether the cause is mended. Only a person resumes what a person has paused. /readyz and the command line show both.
 */
export class Pauses {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #source: string;
  readonly #log: Log;
  readonly #onNews: (stage: string, why: string) => Promise<void>;
  readonly #probeEveryMs: number;
  /** For each stage, when closeloop last asked Redis whether the stage was stopped. */
  readonly #readAt = new Map<string, number>();

  constructor(
    redis: RedisClient,
    tag: string,
    source: string,
    log: Log,
    onNews: (stage: string, why: string) => Promise<void> = async () => undefined,
    probeEveryMs = probeTurnMs(),
  ) {
    this.#redis = redis;
    this.#key = `${tag}:paused`;
    this.#source = source;
    this.#log = log;
    this.#onNews = onNews;
    this.#probeEveryMs = probeEveryMs;
  }

  /** The stage stops for a configuration error. */
  async set(stage: string, why: string): Promise<void> {
    // The alert comes first: a process that is killed in between, or loses Redis, must not leave a stop without an alert.
    if ((await this.#redis.sismember(this.#reported, `${stage}: ${why}`)) === 0) await this.#onNews(stage, why);
    const keys = [this.#key, this.#reported, this.#turn(stage)];
    const isNews = await runScript(
      this.#redis,
      setScript,
      keys,
      stage,
      why,
      new Date().toISOString(),
      this.#probeEveryMs,
    );
    if (isNews === 1)
      this.#log.error({ source: this.#source, stage, why }, 'paused: nothing is lost, somebody has to act');
  }

  async list(): Promise<Pause[]> {
    const all = await this.#redis.hgetall(this.#key);
    return Object.entries(all).map(([field, text]) => ({
      stage: field.startsWith(byPerson) ? field.slice(byPerson.length) : field,
      ...Pause.parse(JSON.parse(text)),
    }));
  }

  /** Whether a person has paused the stage. */
  async isPausedByPerson(step: PausableStep): Promise<boolean> {
    return (await this.#redis.hexists(this.#key, byPerson + step)) === 1;
  }

  /** Whether the stage is paused, stopped or being probed. */
  async stands(step: PausableStep): Promise<boolean> {
    return (await this.#redis.hmget(this.#key, step, byPerson + step)).some((pause) => pause !== null);
  }

  /** Pauses a stage for a person. @returns the pause in force: the first one */
  async pause(step: PausableStep, about: { why: string; by: string; at: Date }, queue?: Queue): Promise<Pause> {
    const pause = JSON.stringify(about);
    await this.#redis.hsetnx(this.#key, byPerson + step, pause);
    await queue?.pause();
    const stored = await this.#redis.hget(this.#key, byPerson + step);
    return { stage: step, ...Pause.parse(JSON.parse(stored ?? pause)) };
  }

  /**
   * Resumes a stage for a person. A stage that had stopped for a configuration error is tried at once, too.
   * @returns the pause that was in force until now
   */
  async resume(step: PausableStep, queue?: Queue): Promise<Pause[]> {
    const held = (await this.list()).filter(({ stage }) => stage === step);
    await this.#redis.set(this.#resuming(step), 1, 'PX', resumingMs);
    await this.#redis.hdel(this.#key, byPerson + step);
    if (!queue) return held;
    if (held.some(({ by }) => by === undefined)) await this.#openForOne(queue);
    else await this.#open(queue);
    return held;
  }

  /** Ends the stop of a stage. If the stage stops again, for the same reason too, another alert is raised. */
  async lift(stage: string, queue?: Queue): Promise<void> {
    if (queue) await this.#openWide(queue);
    const lifted = await runScript(this.#redis, liftScript, [this.#key, this.#reported], stage);
    if (lifted === 1) this.#log.info({ source: this.#source, stage }, 'goes on');
  }

  /** Reports that a job of the stage has succeeded. */
  async cameThrough(queue: Queue): Promise<void> {
    const readAt = this.#readAt.get(queue.name) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - readAt < readEveryMs) return;
    const stored = await this.#redis.hget(this.#key, queue.name);
    this.#readAt.set(queue.name, performance.now());
    if (stored !== null && Pause.parse(JSON.parse(stored)).isProbing) await this.lift(queue.name, queue);
  }

  /** At the start of a worker: the configuration may have been mended. Stages that a person has paused stay paused. */
  async clear(queues: readonly Queue[]): Promise<void> {
    const stopped = (await this.list()).filter(({ by }) => by === undefined).map(({ stage }) => stage);
    // The queues are resumed first: the sweep of another process would alert of a paused queue without a stored reason.
    await Promise.all(queues.map((queue) => this.#openWide(queue)));
    if (stopped.length > 0) await this.#redis.hdel(this.#key, ...stopped);
    await this.#redis.del(this.#reported);
  }

  /**
   * Lets a stopped stage try one job, in one process, once a minute. A stage that fails again is stopped again, without another
   * alert. Also finishes what a killed process has left half done.
   */
  async probe(queues: readonly Queue[]): Promise<void> {
    await this.#reportUnknown(queues);
    const all = await this.list();
    for (const queue of queues) {
      const held = all.filter(({ stage }) => stage === queue.name);
      const isPaused = await queue.isPaused();
      if (held.some(({ by }) => by !== undefined)) {
        if (!isPaused) await this.#open(queue);
      } else if (held.length === 0) {
        if ((await queue.getGlobalConcurrency()) !== null) await this.#openWide(queue);
      } else if (isPaused && (await this.#takesTurn(queue.name))) await this.#openForOne(queue);
    }
  }

  async #takesTurn(stage: string): Promise<boolean> {
    return (await this.#redis.set(this.#turn(stage), 1, 'PX', this.#probeEveryMs, 'NX')) === 'OK';
  }

  /** Tries one job at a time, over all processes, so that a probe costs the vendor or the service one call. */
  async #openForOne(queue: Queue): Promise<void> {
    await queue.setGlobalConcurrency(1);
    if ((await runScript(this.#redis, probingScript, [this.#key], queue.name)) === 0)
      await queue.removeGlobalConcurrency();
    await this.#open(queue);
  }

  async #openWide(queue: Queue): Promise<void> {
    await queue.removeGlobalConcurrency();
    await this.#open(queue);
  }

  /** Resumes the queue unless a person has paused the stage, or pauses it at this moment. */
  async #open(queue: Queue): Promise<void> {
    const isPaused = async () => (await this.#redis.hexists(this.#key, byPerson + queue.name)) === 1;
    for (let held = await isPaused(), before: boolean | undefined; held !== before; held = await isPaused()) {
      before = held;
      if (held) await queue.pause();
      else await queue.resume();
    }
  }

  /**
   * Repairs a paused queue without a stored reason: a process may be suspended between storing a stop and pausing the queue, while
   * the start of another process clears the stop. Reads the queue before the stop, as a stop is stored before its queue is paused.
   */
  async #reportUnknown(queues: readonly Queue[]): Promise<void> {
    const stopped = await Promise.all(queues.map((queue) => queue.isPaused()));
    const known = new Set((await this.list()).map(({ stage }) => stage));
    for (const [i, queue] of queues.entries()) {
      if (!stopped[i] || known.has(queue.name)) continue;
      // Read again: the stop may have been cleared since, and its queue resumed before that.
      if (!(await queue.isPaused()) || (await this.#redis.exists(this.#resuming(queue.name))) === 1) continue;
      await this.set(queue.name, unknown);
    }
  }

  /** A set: the reasons for which an alert was raised. */
  get #reported(): string {
    return `${this.#key}:reported`;
  }

  /** While this key exists a person resumes the stage: its pause is gone, and its queue may still be paused. */
  #resuming(stage: string): string {
    return `${this.#key}:resuming:${stage}`;
  }

  /** While this key exists the stage is not tried again. */
  #turn(stage: string): string {
    return `${this.#key}:turn:${stage}`;
  }
}
