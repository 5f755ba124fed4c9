import { z } from 'zod';
import { type Contact, contactKey } from '../../core/contact.ts';
import type { RedisClient } from '../redis/client.ts';
import { releaseLock, takeLock } from '../redis/lock.ts';
import { runScript } from '../redis/script.ts';
import type { Seal } from '../redis/seal.ts';
import { keepingUnknown } from './keeping-unknown.ts';

const asked = {
  at: z.coerce.date(),
  journey: z.string(),
  /** When the service sends the request, where the service adds the campaign's delay: the contact's `last_appeal` then. */
  scheduled: z.coerce.date().optional(),
};
const LastAsked = keepingUnknown({
  ...asked,
  /** The request was cancelled before it was sent: the service's counters include it, the throttle does not. */
  withdrawn: z.boolean().optional(),
  /** The requests before it that count, newest first: restored when this one comes to nothing. */
  earlier: z.array(keepingUnknown(asked)).optional(),
});
export type LastAsked = z.output<typeof LastAsked>;

const mostEarlier = 10;

/** In place of a journey, for a request that only the service knows. */
export const elsewhere = 'elsewhere';

/** The note of the request before this one. */
export function beforeThat({ earlier = [] }: LastAsked): LastAsked | undefined {
  const [next, ...rest] = earlier;
  return next && { ...next, earlier: rest };
}

/** The note as an entry of a newer note's `earlier`. */
export function asEarlier({ earlier = [], ...one }: LastAsked): Pick<LastAsked, 'earlier'> {
  return { earlier: [one, ...earlier].slice(0, mostEarlier) };
}

/** How long the memory of a person's last request is kept: longer than any sensible throttle. */
const memoryMs = 400 * 86_400_000;

/** Compare and set, so that no concurrent change is lost. KEYS note · ARGV the note as read, the new note or '', ms */
const changeScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`;

/**
 * What is shared about one person over all sources: who is asking right now, and when they were asked last.
 * Keys hold a keyed digest of the contact, never the contact.
 */
export class ContactMemory {
  readonly #redis: RedisClient;
  readonly #seal: Seal;

  constructor(redis: RedisClient, seal: Seal) {
    this.#redis = redis;
    this.#seal = seal;
  }

  /**
   * One journey at a time may ask a person: the service's counters are compared before and after, and the throttle is
   * read and written, under this lock. It ends by itself after `ttlMs`.
   */
  async lock(contactKey: string, token: string, ttlMs: number): Promise<boolean> {
    return await takeLock(this.#redis, this.#key(contactKey, 'lock'), token, ttlMs);
  }

  async release(contactKey: string, token: string): Promise<void> {
    await releaseLock(this.#redis, this.#key(contactKey, 'lock'), token);
  }

  async lastAsked(contactKey: string): Promise<LastAsked | undefined> {
    const stored = await this.#redis.get(this.#key(contactKey, 'asked'));
    return stored === null ? undefined : LastAsked.parse(JSON.parse(stored));
  }

  async setLastAsked(contactKey: string, value: LastAsked | undefined): Promise<void> {
    const key = this.#key(contactKey, 'asked');
    if (value) await this.#redis.set(key, JSON.stringify(LastAsked.parse(value)), 'PX', memoryMs);
    else await this.#redis.del(key);
  }

  /** Deletes the note of a person who was not asked after all, or is to be forgotten. @param journey only if this journey made the note */
  async forgetAsked(contact: Contact, journey?: string): Promise<void> {
    const key = contactKey(contact);
    if (journey === undefined) return await this.setLastAsked(key, undefined);
    await this.#change(key, (last) => (last.journey === journey ? beforeThat(last) : last));
  }

  /** Takes back the note of a journey that asked nobody, unless a newer note exists. @param before the note before it */
  async takeBack(contactKey: string, { journey, at }: LastAsked, before: LastAsked | undefined): Promise<void> {
    await this.#change(contactKey, (last) =>
      last.journey === journey && last.at.getTime() === at.getTime() ? before : last,
    );
  }

  /** The request of this journey was cancelled before it was sent. */
  async noteWithdrawn(contact: Contact, journey: string): Promise<void> {
    const key = contactKey(contact);
    await this.#change(key, (last) => {
      if (last.journey === journey) return { ...last, withdrawn: true };
      const earlier = last.earlier?.filter((one) => one.journey !== journey);
      return earlier ? { ...last, earlier } : last;
    });
  }

  /** `decide` may be called several times. Nothing is written where it returns the note that it was given. */
  async #change(contactKey: string, decide: (last: LastAsked) => LastAsked | undefined): Promise<void> {
    const key = this.#key(contactKey, 'asked');
    for (;;) {
      const stored = await this.#redis.get(key);
      if (stored === null) return;
      const last = LastAsked.parse(JSON.parse(stored));
      const next = decide(last);
      if (next === last) return;
      const text = next ? JSON.stringify(LastAsked.parse(next)) : '';
      if ((await runScript(this.#redis, changeScript, [key], stored, text, memoryMs)) === 1) return;
    }
  }

  #key(contactKey: string, what: string): string {
    return `{cl:contact:${this.#seal.digest(contactKey)}}:${what}`;
  }
}
