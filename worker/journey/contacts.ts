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
  /** When the service sends it, where it adds the campaign's delay itself: what it calls the contact's `last_appeal`. */
  scheduled: z.coerce.date().optional(),
};
const LastAsked = keepingUnknown({
  ...asked,
  /** It was cancelled at the service before it was sent: it explains the service's counters, and no throttle counts it. */
  withdrawn: z.boolean().optional(),
  /** Those before it that count, last one first: what is left when this one comes to nothing. */
  earlier: z.array(keepingUnknown(asked)).optional(),
});
export type LastAsked = z.output<typeof LastAsked>;

const mostEarlier = 10;

/** Who asked where no journey is known to have. */
export const elsewhere = 'elsewhere';

/** The one that was the last before this one. */
export function beforeThat({ earlier = [] }: LastAsked): LastAsked | undefined {
  const [next, ...rest] = earlier;
  return next && { ...next, earlier: rest };
}

/** The same, as what came before another. */
export function asEarlier({ earlier = [], ...one }: LastAsked): Pick<LastAsked, 'earlier'> {
  return { earlier: [one, ...earlier].slice(0, mostEarlier) };
}

/** How long the memory of a person's last request is kept: longer than any sensible throttle. */
const memoryMs = 400 * 86_400_000;

/** Of two who change it, neither undoes what the other has noted. KEYS note · ARGV the note as it was read, as it is to be or '', ms */
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

  /** They were not asked after all, or are to be forgotten. @param journey only if it was this one who asked last */
  async forgetAsked(contact: Contact, journey?: string): Promise<void> {
    const key = contactKey(contact);
    if (journey === undefined) return await this.setLastAsked(key, undefined);
    await this.#change(key, (last) => (last.journey === journey ? beforeThat(last) : last));
  }

  /** This journey has asked nobody: its note goes, unless another has been made since. @param before what there was before */
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

  /** `decide` may be called several times. What it returns as it was given stays. */
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
