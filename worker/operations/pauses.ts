import type { Queue } from 'bullmq';
import { z } from 'zod';
import type { Log } from '../../core/ports.ts';
import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';
import { type PausableStep, pausableSteps } from './pausable-steps.ts';

const Pause = z.object({
  why: z.string(),
  at: z.coerce.date(),
  /** user@host of whoever paused it. Undefined: it stopped itself for a configuration error. */
  by: z.string().optional(),
  /** One job at a time finds out whether the cause is mended. */
  isProbing: z.boolean().optional(),
});

export interface Pause extends z.output<typeof Pause> {
  stage: string;
}

/** Between two probes of a stage, over all processes; they come with the sweeps, every minute. Real time. */
const probeEveryMs = 50_000;
/** A process looks at most this often whether a stage in which a job came through had been stopped. Real time. */
const lookEveryMs = 1_000;
const unknown = 'it stood still, and why is not known any more: the log tells';
const byPerson = 'by-person:';

/** Returns 1 when this reason was never told. KEYS pauses, reasons told, turn · ARGV stage, reason, now, ms until a probe */
const setScript = `
local known = redis.call('HGET', KEYS[1], ARGV[1])
local at = known and cjson.decode(known).at or ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode({ why = ARGV[2], at = at }))
redis.call('SET', KEYS[3], 1, 'PX', ARGV[4])
return redis.call('SADD', KEYS[2], ARGV[1] .. ': ' .. ARGV[2])`;

/** KEYS pauses · ARGV stage. Returns 1 when it is stopped, and a job may find out from now on. */
const probingScript = `
local pause = redis.call('HGET', KEYS[1], ARGV[1])
if not pause then return 0 end
local noted = cjson.decode(pause)
noted.isProbing = true
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(noted))
return 1`;

/** Returns 1 when it had been stopped. KEYS pauses, reasons told · ARGV stage */
const liftScript = `
local pause = redis.call('HGET', KEYS[1], ARGV[1])
if not pause then return 0 end
redis.call('SREM', KEYS[2], ARGV[1] .. ': ' .. cjson.decode(pause).why)
return redis.call('HDEL', KEYS[1], ARGV[1])`;

/**
 * The stages of a source that stand still, over all processes: those that stopped for a configuration error, and those that a
 * person has paused. A configuration error is told once per reason, not once per job, and one job a minute finds out whether
 * it is mended; what a person has paused only a person resumes. /readyz and the command line show both.
 */
export class Pauses {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #source: string;
  readonly #log: Log;
  readonly #onNews: (stage: string, why: string) => Promise<void>;
  /** By stage: when it was last looked whether it had been stopped. */
  readonly #lookedAt = new Map<string, number>();

  constructor(
    redis: RedisClient,
    tag: string,
    source: string,
    log: Log,
    onNews: (stage: string, why: string) => Promise<void> = async () => undefined,
  ) {
    this.#redis = redis;
    this.#key = `${tag}:paused`;
    this.#source = source;
    this.#log = log;
    this.#onNews = onNews;
  }

  /** The stage stops for a configuration error. */
  async set(stage: string, why: string): Promise<void> {
    // First: whoever is killed in between, or loses Redis, must not have told nobody.
    if ((await this.#redis.sismember(this.#told, `${stage}: ${why}`)) === 0) await this.#onNews(stage, why);
    const keys = [this.#key, this.#told, this.#turn(stage)];
    const isNews = await runScript(this.#redis, setScript, keys, stage, why, new Date().toISOString(), probeEveryMs);
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

  /** Has a person paused it? */
  async isPausedByPerson(step: PausableStep): Promise<boolean> {
    return (await this.#redis.hexists(this.#key, byPerson + step)) === 1;
  }

  /** Does it stand still, or has it a single job find out whether it has to? */
  async stands(step: PausableStep): Promise<boolean> {
    return (await this.#redis.hmget(this.#key, step, byPerson + step)).some((pause) => pause !== null);
  }

  /** By a person. @returns the pause that holds: that of whoever was first */
  async pause(step: PausableStep, about: { why: string; by: string; at: Date }, queue?: Queue): Promise<Pause> {
    const pause = JSON.stringify(about);
    await this.#redis.hsetnx(this.#key, byPerson + step, pause);
    await queue?.pause();
    const stored = await this.#redis.hget(this.#key, byPerson + step);
    return { stage: step, ...Pause.parse(JSON.parse(stored ?? pause)) };
  }

  /**
   * By a person: also a stage that had stopped for a configuration error is tried at once.
   * @returns what held until now
   */
  async resume(step: PausableStep, queue?: Queue): Promise<Pause[]> {
    const held = (await this.list()).filter(({ stage }) => stage === step);
    await this.#redis.hdel(this.#key, byPerson + step);
    if (!queue) return held;
    if (held.some(({ by }) => by === undefined)) await this.#openForOne(queue);
    else await this.#open(queue);
    return held;
  }

  /** Its source has another name now: what a person has paused stays paused. */
  async takeOver(before: Pauses, queues: readonly Queue[]): Promise<void> {
    for (const { stage, why, at, by } of await before.list()) {
      const step = pausableSteps.find((one) => one === stage);
      if (step === undefined || by === undefined) continue;
      await this.pause(
        step,
        { why, at, by },
        queues.find(({ name }) => name === step),
      );
    }
  }

  /** What had stopped goes well again: should it stop once more for the same reason, that is news. */
  async lift(stage: string, queue?: Queue): Promise<void> {
    if (queue) await this.#openWide(queue);
    const lifted = await runScript(this.#redis, liftScript, [this.#key, this.#told], stage);
    if (lifted === 1) this.#log.info({ source: this.#source, stage }, 'goes on');
  }

  /** A job came through. */
  async cameThrough(queue: Queue): Promise<void> {
    const lookedAt = this.#lookedAt.get(queue.name) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - lookedAt < lookEveryMs) return;
    const stored = await this.#redis.hget(this.#key, queue.name);
    this.#lookedAt.set(queue.name, performance.now());
    if (stored !== null && Pause.parse(JSON.parse(stored)).isProbing) await this.lift(queue.name, queue);
  }

  /** At the start of a worker: somebody may have mended the configuration. What a person has paused stays so. */
  async clear(queues: readonly Queue[]): Promise<void> {
    const stopped = (await this.list()).filter(({ by }) => by === undefined).map(({ stage }) => stage);
    // First: a queue that is paused, and nobody knows why, would be told of by the sweep of another process.
    await Promise.all(queues.map((queue) => this.#openWide(queue)));
    if (stopped.length > 0) await this.#redis.hdel(this.#key, ...stopped);
    await this.#redis.del(this.#told);
  }

  /**
   * Lets a stage that has stopped try one job, in one process, once a minute. A stage that fails again is stopped again,
   * silently. Also mends what a process left half done that was killed.
   */
  async probe(queues: readonly Queue[]): Promise<void> {
    await this.#tellUnknown(queues);
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
    return (await this.#redis.set(this.#turn(stage), 1, 'PX', probeEveryMs, 'NX')) === 'OK';
  }

  /** One job at a time, over all processes: what it finds out is all that the vendor or the service is asked. */
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

  /** Unless a person has paused it, or does at this moment. */
  async #open(queue: Queue): Promise<void> {
    const isPaused = async () => (await this.#redis.hexists(this.#key, byPerson + queue.name)) === 1;
    for (let held = await isPaused(), before: boolean | undefined; held !== before; held = await isPaused()) {
      before = held;
      if (held) await queue.pause();
      else await queue.resume();
    }
  }

  /**
   * A process may stand still between telling that a stage stops and stopping it, while the start of another one clears
   * what was told: the stage would stand still for good, and nobody know of it. Looked at in this order, as stages stop in
   * the other one.
   */
  async #tellUnknown(queues: readonly Queue[]): Promise<void> {
    const stopped = await Promise.all(queues.map((queue) => queue.isPaused()));
    const known = new Set((await this.list()).map(({ stage }) => stage));
    for (const [i, queue] of queues.entries()) {
      // Again: it may have been cleared since, with its queue opened first.
      if (stopped[i] && !known.has(queue.name) && (await queue.isPaused())) await this.set(queue.name, unknown);
    }
  }

  /** A set: reasons that were told. */
  get #told(): string {
    return `${this.#key}:told`;
  }

  /** While this exists a stage is not tried again. */
  #turn(stage: string): string {
    return `${this.#key}:turn:${stage}`;
  }
}
