import { slices } from '../../core/spread.ts';
import type { RedisClient } from '../redis/client.ts';
import type { Seal } from '../redis/seal.ts';
import { shared } from '../redis/shared.ts';

/** The people who were forgotten through one source, as digests, and the time of each erasure: earlier data must not be stored again. */
export class Forgotten {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #seal: Seal;
  /** The last person who was forgotten, and when. */
  readonly #last: () => Promise<string[]>;

  constructor(redis: RedisClient, key: string, seal: Seal) {
    this.#redis = redis;
    this.#key = key;
    this.#seal = seal;
    this.#last = shared(() => redis.zrange(key, '-1', '-1', 'WITHSCORES'));
  }

  /** Kept for `keepMs`. */
  async note(who: readonly string[], at: Date, keepMs: number): Promise<void> {
    if (who.length === 0) return;
    for (const some of slices(who)) {
      await this.#redis.zadd(this.#key, 'GT', ...some.flatMap((one) => [at.getTime(), this.#seal.digest(one)]));
    }
    await this.#redis.zremrangebyscore(this.#key, '-inf', at.getTime() - keepMs);
    // The key expires also if it has no entry left.
    await this.#redis.pexpire(this.#key, keepMs);
  }

  /** Whether anybody was forgotten at `at` or since: nearly always nobody was, and nobody has to be looked for. */
  async anybodySince(at: Date): Promise<boolean> {
    const [, last] = await this.#last();
    return last !== undefined && Number(last) >= at.getTime();
  }

  /** Finds which of the given people were forgotten at `at` or later. */
  async since(at: Date, who: readonly string[]): Promise<string[]> {
    const times = await this.#timesOf(who);
    return who.filter((_, i) => (times[i] ?? Number.NEGATIVE_INFINITY) >= at.getTime());
  }

  async #timesOf(who: readonly string[]): Promise<(number | undefined)[]> {
    const times: (number | undefined)[] = [];
    for (const some of slices(who)) {
      const digests = some.map((one) => this.#seal.digest(one));
      const found = await this.#redis.zmscore(this.#key, ...digests);
      for (const at of found) times.push(at === null ? undefined : Number(at));
    }
    return times;
  }
}
