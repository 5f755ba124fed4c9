import type { Queue } from 'bullmq';
import { z } from 'zod';
import type { Log } from '../../core/ports.ts';
import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';

const Pause = z.object({ why: z.string(), at: z.coerce.date() });

/** After this long a stopped stage tries one round again: access may have been given back without a restart. */
const probeAfterMs = 600_000;
const unknown = 'it stood still, and why is not known any more: the log tells';

/** Returns 1 when this reason was never told. KEYS pauses, reasons told · ARGV stage, reason, JSON */
const setScript = `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return redis.call('SADD', KEYS[2], ARGV[1] .. ': ' .. ARGV[2])`;

/** Returns 1 when it had been stopped. KEYS pauses, reasons told · ARGV stage */
const liftScript = `
local pause = redis.call('HGET', KEYS[1], ARGV[1])
if not pause then return 0 end
redis.call('SREM', KEYS[2], ARGV[1] .. ': ' .. cjson.decode(pause).why)
return redis.call('HDEL', KEYS[1], ARGV[1])`;

/**
 * What has been stopped for a configuration error, over all processes of a source: told once per reason, not once per
 * job, and shown by /readyz and the command line until it is mended.
 */
export class Pauses {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #source: string;
  readonly #log: Log;
  readonly #onNews: (stage: string, why: string) => Promise<void>;

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

  async set(stage: string, why: string): Promise<void> {
    const pause = JSON.stringify({ why, at: new Date() });
    const told = `${this.#key}:told`;
    // First: whoever is killed in between, or loses Redis, must not have told nobody.
    if ((await this.#redis.sismember(told, `${stage}: ${why}`)) === 0) await this.#onNews(stage, why);
    const isNews = await runScript(this.#redis, setScript, [this.#key, told], stage, why, pause);
    if (isNews === 1)
      this.#log.error({ source: this.#source, stage, why }, 'paused: nothing is lost, somebody has to act');
  }

  async list(): Promise<{ stage: string; why: string; at: Date }[]> {
    const all = await this.#redis.hgetall(this.#key);
    return Object.entries(all).map(([stage, text]) => ({ stage, ...Pause.parse(JSON.parse(text)) }));
  }

  /** What had stopped goes well again: should it stop once more for the same reason, that is news. */
  async lift(stage: string): Promise<void> {
    const lifted = await runScript(this.#redis, liftScript, [this.#key, `${this.#key}:told`], stage);
    if (lifted === 1) this.#log.info({ source: this.#source, stage }, 'goes on');
  }

  /** At the start of a worker: somebody may have mended the configuration. */
  async clear(queues: readonly Queue[]): Promise<void> {
    await this.#redis.del(this.#key, `${this.#key}:told`);
    await Promise.all(queues.map((queue) => queue.resume()));
  }

  /** Lets stages that have been stopped long enough try again. A stage that fails again is paused again, silently. */
  async probe(queues: readonly Queue[]): Promise<void> {
    await this.#tellUnknown(queues);
    for (const { stage, at } of await this.list()) {
      const queue = queues.find(({ name }) => name === stage);
      // In the future: the clock was set back since.
      if (!queue || Math.abs(Date.now() - at.getTime()) < probeAfterMs) continue;
      if (await queue.isPaused()) await queue.resume();
      else await this.lift(stage);
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
    for (const [i, { name }] of queues.entries()) if (stopped[i] && !known.has(name)) await this.set(name, unknown);
  }
}
