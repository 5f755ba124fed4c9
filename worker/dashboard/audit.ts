import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';

/** A list of what people did on the page, newest first. */
const key = `${globalTag}:audit`;
/** Older ones are dropped. */
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

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  async note(entry: AuditEntry): Promise<void> {
    const results = await this.#redis
      .multi()
      .lpush(key, JSON.stringify(entry))
      .ltrim(key, 0, most - 1)
      .exec();
    for (const [error] of results ?? []) if (error) throw error;
  }

  /** Newest first. */
  async last(count: number): Promise<AuditEntry[]> {
    return (await this.#redis.lrange(key, 0, count - 1)).map((text) => AuditEntry.parse(JSON.parse(text)));
  }
}
