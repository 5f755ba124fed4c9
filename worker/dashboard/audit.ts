import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';

/** Older ones are dropped, of each list. */
const most = 1_000;

const AuditEntry = z.object({
  at: z.coerce.date(),
  who: z.string(),
  /** What was asked for: no personal data. */
  what: z.string(),
  /** A journey, or a source. */
  about: z.string(),
});
export type AuditEntry = z.output<typeof AuditEntry>;

/** Who asked for what on the page, and when: noted before it is done. */
export class Audit {
  readonly #redis: RedisClient;
  readonly #key: string;

  /** @param list logins have one of their own: those that fail are many, and would drop the others */
  constructor(redis: RedisClient, list: 'audit' | 'audit-logins' = 'audit') {
    this.#redis = redis;
    this.#key = `${globalTag}:${list}`;
  }

  async note(entry: AuditEntry): Promise<void> {
    const adding = this.#redis.multi().lpush(this.#key, JSON.stringify(entry));
    for (const [error] of (await adding.ltrim(this.#key, 0, most - 1).exec()) ?? []) if (error) throw error;
  }

  /** Newest first. */
  async last(count: number): Promise<AuditEntry[]> {
    const texts = await this.#redis.lrange(this.#key, 0, count - 1);
    return texts.map((text) => AuditEntry.parse(JSON.parse(text)));
  }
}
