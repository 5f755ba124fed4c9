import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { runScript } from '../redis/script.ts';
import type { Seal } from '../redis/seal.ts';

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
  readonly #seal: Pick<Seal, 'digest'>;

  constructor(redis: RedisClient, source: string, seal: Pick<Seal, 'digest'>) {
    this.#redis = redis;
    this.#tag = tagOf(source);
    this.#seal = seal;
  }

  /**
   * How many of these may run, from the first on.
   * @param markers the actions: each is counted once, however often it is tried
   */
  async take(recordId: string, markers: readonly string[], most: number, now: Date): Promise<number> {
    const [key, members] = this.#stored(recordId, markers);
    const taken = await runScript(this.#redis, takeScript, [key], now.getTime(), most, dayMs, ...members);
    return z.number().parse(taken);
  }

  /** These have come to nothing before they began. */
  async giveBack(recordId: string, markers: readonly string[]): Promise<void> {
    const [key, members] = this.#stored(recordId, markers);
    if (members.length > 0) await this.#redis.zrem(key, ...members);
  }

  #stored(recordId: string, markers: readonly string[]): [key: string, members: string[]] {
    const digest = (text: string) => this.#seal.digest(text);
    return [`${this.#tag}:actions:${digest(recordId)}`, markers.map(digest)];
  }
}
