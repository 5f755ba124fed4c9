import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { runScript } from '../redis/script.ts';

const dayMs = 86_400_000;

/** Takes places among the record's actions of a day; an action keeps its place. Returns how many have one. KEYS actions · ARGV now, most, ms of a day, markers… */
const takeScript = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - ARGV[3])
local taken = 0
for i = 4, #ARGV do
  if not redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then break end
    redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i])
  end
  taken = taken + 1
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return taken`;

/** How many actions answers have set going on each record within a day, over all processes. */
export class ActionLimit {
  readonly #redis: RedisClient;
  readonly #tag: string;

  constructor(redis: RedisClient, source: string) {
    this.#redis = redis;
    this.#tag = tagOf(source);
  }

  /**
   * How many of these may run, from the first on.
   * @param markers the actions: each is counted once, however often it is tried
   */
  async take(recordId: string, markers: readonly string[], most: number, now: Date): Promise<number> {
    const taken = await runScript(
      this.#redis,
      takeScript,
      [this.#of(recordId)],
      now.getTime(),
      most,
      dayMs,
      ...markers,
    );
    return z.number().parse(taken);
  }

  /** These have come to nothing before they began. */
  async giveBack(recordId: string, markers: readonly string[]): Promise<void> {
    if (markers.length > 0) await this.#redis.zrem(this.#of(recordId), ...markers);
  }

  #of(recordId: string): string {
    return `${this.#tag}:actions:${recordId}`;
  }
}
