import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type RedisClient, tagOf } from './store.ts';

const ErasureCounts = z.object({ journeys: z.number(), contacts: z.number(), requestsMasked: z.number() });
export type ErasureCounts = z.output<typeof ErasureCounts>;

const Erasure = ErasureCounts.extend({
  at: z.coerce.date(),
  /** The event's. */
  key: z.string(),
  what: z.string(),
  /** What had been written on records: taken off again, or where it was left. */
  copies: z.string().optional(),
  /** Journeys that could not be read: whatever they hold is still there. */
  unreadable: z.array(z.string()).optional(),
});
export type Erasure = z.output<typeof Erasure>;

/** What was erased in one source, without the people: proof for whoever asks later. */
export class Erasures {
  readonly #redis: RedisClient;
  readonly #key: string;

  constructor(redis: RedisClient, source: string) {
    this.#redis = redis;
    this.#key = `${tagOf(source)}:erasures`;
  }

  async note(proof: Erasure): Promise<void> {
    await this.#redis.hset(this.#key, proof.key, JSON.stringify(proof));
    await this.#redis.hdel(`${this.#key}:begun`, proof.key);
  }

  /** What an erasure has come to so far. */
  async noteBegun(key: string, counts: ErasureCounts): Promise<void> {
    await this.#redis.hset(`${this.#key}:begun`, key, JSON.stringify(counts));
  }

  /** What earlier attempts at an erasure came to, or an earlier delivery of it: nobody finds again what is gone. */
  async begun(key: string): Promise<ErasureCounts> {
    const stored = (await this.#redis.hget(`${this.#key}:begun`, key)) ?? (await this.#redis.hget(this.#key, key));
    return stored === null ? { journeys: 0, contacts: 0, requestsMasked: 0 } : ErasureCounts.parse(JSON.parse(stored));
  }

  /** These were forgotten, as of `at`: what came in before must not be stored again. Holds hashes only, for `keepMs`. */
  async noteForgotten(who: readonly string[], at: Date, keepMs: number): Promise<void> {
    if (who.length === 0) return;
    const key = `${this.#key}:forgotten`;
    await this.#redis.zadd(key, 'GT', ...who.flatMap((one) => [at.getTime(), hashOf(one)]));
    await this.#redis.zremrangebyscore(key, '-inf', at.getTime() - keepMs);
  }

  /** When any of these was forgotten last. */
  async lastOf(who: readonly string[]): Promise<Date | undefined> {
    const found = await this.#redis.zmscore(`${this.#key}:forgotten`, ...who.map(hashOf));
    const times = found.flatMap((at) => (at === null ? [] : [Number(at)]));
    return times.length === 0 ? undefined : new Date(Math.max(...times));
  }

  /** What became of the copies on records. By itself, as it may be known before the rest of the proof or long after. */
  async noteCopies(key: string, copies: string): Promise<void> {
    await this.#redis.hset(`${this.#key}:copies`, key, copies);
  }

  /** Earliest first. */
  async all(): Promise<Erasure[]> {
    const [all, copies] = await Promise.all([this.#redis.hvals(this.#key), this.#redis.hgetall(`${this.#key}:copies`)]);
    const proofs = all.map((text) => Erasure.parse(JSON.parse(text)));
    return proofs
      .map((proof) => ({ ...proof, ...(copies[proof.key] !== undefined && { copies: copies[proof.key] }) }))
      .sort((a, b) => a.at.getTime() - b.at.getTime());
  }
}

function hashOf(who: string): string {
  return createHash('sha256').update(who).digest('base64url');
}
