import { slices } from '../../core/spread.ts';
import type { RedisClient } from '../redis/client.ts';
import type { Seal } from '../redis/seal.ts';
import { shared } from '../redis/shared.ts';

/** The people who were forgotten through one source, as digests, and the time of each erasure: earlier data must not be stored again. */
export function forgottenPeople(redis: RedisClient, key: string, seal: Seal) {
  const last = shared(() => redis.zrange(key, '-1', '-1', 'WITHSCORES'));
  return {
    /** Kept for `keepMs`. */
    async note(who: readonly string[], at: Date, keepMs: number): Promise<void> {
      if (who.length === 0) return;
      for (const some of slices(who)) {
        await redis.zadd(key, 'GT', ...some.flatMap((one) => [at.getTime(), seal.digest(one)]));
      }
      await redis.zremrangebyscore(key, '-inf', at.getTime() - keepMs);
      // The key expires also if it has no entry left.
      await redis.pexpire(key, keepMs);
    },

    /** Whether anybody was forgotten at `at` or since: nearly always nobody was, and nobody has to be looked for. */
    async anybodySince(at: Date): Promise<boolean> {
      const [, lastAt] = await last();
      return lastAt !== undefined && Number(lastAt) >= at.getTime();
    },

    /** Finds which of the given people were forgotten at `at` or later. */
    async since(at: Date, who: readonly string[]): Promise<string[]> {
      const found: string[] = [];
      for (const some of slices(who)) {
        const times = await redis.zmscore(key, ...some.map((one) => seal.digest(one)));
        found.push(...some.filter((_, i) => times[i] != null && Number(times[i]) >= at.getTime()));
      }
      return found;
    },
  };
}
