import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { runScript } from '../redis/script.ts';
import type { Seal } from '../redis/seal.ts';

const dayMs = 86_400_000;

/** Takes a place among the record's actions of a day; an action keeps its place. KEYS actions · ARGV marker, now, most, ms of a day */
const takeScript = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2] - ARGV[4])
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
  redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`;

/** How many actions answers have set going on each record within a day, over all processes. */
export class ActionLimit {
  readonly #redis: RedisClient;
  readonly #tag: string;
  readonly #seal: Pick<Seal, 'digest'>;

  constructor(redis: RedisClient, source: string, seal: Pick<Seal, 'digest'>) {
    this.#redis = redis;
    this.#tag = tagOf(source);
    this.#seal = seal;
  }

  /** Whether one more may run. @param marker the action: it is counted once, however often it is tried */
  async take(recordId: string, marker: string, most: number, now: Date): Promise<boolean> {
    const key = `${this.#tag}:actions:${this.#seal.digest(recordId)}`;
    const taken = await runScript(
      this.#redis,
      takeScript,
      [key],
      this.#seal.digest(marker),
      now.getTime(),
      most,
      dayMs,
    );
    return z.number().parse(taken) === 1;
  }
}
