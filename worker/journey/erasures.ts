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
