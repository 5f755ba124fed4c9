import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';

/** Lists of what people did on the page, newest first, and of who logged in or tried to: those many would drop the others. */
const key = `${globalTag}:audit`;
const loginsKey = `${globalTag}:audit-logins`;
/** Older ones are dropped, of each. */
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

/** Who asked for what on the page, and when: noted before it is done; and logins, with the user's name. */
export class Audit {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  async note(entry: AuditEntry): Promise<void> {
    await this.#add(key, entry);
  }

  async noteLogin(entry: AuditEntry): Promise<void> {
    await this.#add(loginsKey, entry);
  }

  /** Newest first. */
  async last(count: number): Promise<AuditEntry[]> {
    return await this.#last(key, count);
  }

  /** Newest first. */
  async lastLogins(count: number): Promise<AuditEntry[]> {
    return await this.#last(loginsKey, count);
  }

  async #add(list: string, entry: AuditEntry): Promise<void> {
    const results = await this.#redis
      .multi()
      .lpush(list, JSON.stringify(entry))
      .ltrim(list, 0, most - 1)
      .exec();
    for (const [error] of results ?? []) if (error) throw error;
  }

  async #last(list: string, count: number): Promise<AuditEntry[]> {
    return (await this.#redis.lrange(list, 0, count - 1)).map((text) => AuditEntry.parse(JSON.parse(text)));
  }
}
