import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';

/** The most entries of a list. Older entries are dropped. */
const most = 1_000;

const AuditEntry = z.object({
  at: z.coerce.date(),
  who: z.string(),
  /** The action, without personal data. */
  what: z.string(),
  /** The journey or the source that the action is about. */
  about: z.string(),
});
export type AuditEntry = z.output<typeof AuditEntry>;

/** The log of who did what on the page, and when. An entry is written before its action is done. */
export class Audit {
  readonly #redis: RedisClient;
  readonly #key: string;

  /** @param list logins have a list of their own: the many failed logins would push out the other entries */
  constructor(redis: RedisClient, list: 'audit' | 'audit-logins' = 'audit') {
    this.#redis = redis;
    this.#key = `${globalTag}:${list}`;
  }

  async note(entry: AuditEntry): Promise<void> {
    const adding = this.#redis.multi().lpush(this.#key, JSON.stringify(entry));
    for (const [error] of (await adding.ltrim(this.#key, 0, most - 1).exec()) ?? []) if (error) throw error;
  }

  /** Notes an action before it is done, and notes once more if the action was refused. */
  async noting(entry: AuditEntry, work: () => Promise<unknown>): Promise<void> {
    await this.note(entry);
    try {
      await work();
    } catch (error) {
      await this.note({ ...entry, what: `${entry.what} was refused` });
      throw error;
    }
  }

  /** Newest first. */
  async last(count: number): Promise<AuditEntry[]> {
    const texts = await this.#redis.lrange(this.#key, 0, count - 1);
    return texts.map((text) => AuditEntry.parse(JSON.parse(text)));
  }
}
