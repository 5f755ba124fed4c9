import { z } from 'zod';
import { contactKey } from '../../core/contact.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { runScript } from '../redis/script.ts';
import type { Seal } from '../redis/seal.ts';
import { recordsKey } from './journey-keys.ts';

/** An e-mail address, or a phone number with its country. */
const looksPersonal = /@|^(?:\+|00)[\d\s().-]{7,}$/;
const aliasForm = /^alias-[\w-]{22}$/;

/** Whether this is what an id is called here, in place of itself. */
export const isAlias = (name: string): boolean => aliasForm.test(name);

/**
 * KEYS alias, records · ARGV sealed id, instant, milliseconds to keep it without a journey, alias.
 * The record's journeys decide how long the alias is kept, as with the record's snapshot (snapshots.ts).
 */
const noteScript = `
redis.call('HSET', KEYS[1], 'id', ARGV[1], 'at', ARGV[2])
if redis.call('HEXISTS', KEYS[2], ARGV[4]) == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1`;

/** Deletes an id unless it was noted after the instant. KEYS alias · ARGV instant */
const forgetScript = `
if tonumber(redis.call('HGET', KEYS[1], 'at') or '0') <= tonumber(ARGV[1]) then redis.call('DEL', KEYS[1]) end
return 1`;

const Rows = z.array(z.tuple([z.unknown(), z.string().nullable()]));

/**
 * A vendor may use its customers' addresses as record ids. In closeloop (keys, journeys, jobs, logs, the marker at the service)
 * such a record has an alias, a keyed digest of the id. The id is stored once, sealed, and deleted when the person is erased.
 */
export class RecordAliases {
  readonly #redis: RedisClient;
  readonly #tag: string;
  readonly #keepMs: number;
  readonly #seal: Seal;

  constructor(redis: RedisClient, source: string, options: { keepMs: number; seal: Seal }) {
    this.#redis = redis;
    this.#tag = tagOf(source);
    this.#keepMs = options.keepMs;
    this.#seal = options.seal;
  }

  /** The record's name in closeloop: its id, or an alias where the id looks like personal data. */
  of(recordId: string): string {
    if (!looksPersonal.test(decoded(recordId))) return recordId;
    // One alias for all spellings of an address, so that an erasure finds the record by any of them.
    const name = contactKey({ kind: 'identifier', value: decoded(recordId) });
    return `alias-${this.#seal.digest(`record ${name}`).slice(0, 22)}`;
  }

  /** Stores the ids behind the aliases, as of `at`. */
  async note(recordIds: readonly string[], at: Date): Promise<void> {
    const personal = [...new Set(recordIds)].filter((id) => this.of(id) !== id);
    if (personal.length === 0) return;
    const batch = this.#redis.pipeline();
    for (const id of personal) {
      const alias = this.of(id);
      const keys = [this.#key(alias), recordsKey(this.#tag, alias)];
      const sealed = this.#seal.seal(id, aboutAlias(alias));
      batch.eval(noteScript, keys.length, ...keys, sealed, at.getTime(), this.#keepMs, alias);
    }
    for (const [error] of (await batch.exec()) ?? []) if (error) throw error;
  }

  /** The vendor's ids; undefined for an alias whose id was erased. */
  async idsOf(names: readonly string[]): Promise<(string | undefined)[]> {
    if (!names.some((name) => aliasForm.test(name))) return [...names];
    const pipeline = this.#redis.pipeline();
    for (const name of names) pipeline.hget(this.#key(name), 'id');
    const rows = Rows.parse(await pipeline.exec());
    return rows.map(([error, sealed], i) => {
      if (error) throw error;
      const name = names[i] ?? '';
      if (!aliasForm.test(name)) return name;
      return sealed === null ? undefined : this.#seal.open(sealed, aboutAlias(name));
    });
  }

  /** Deletes the ids behind these aliases, as of `at`. */
  async forget(names: readonly string[], at: Date): Promise<void> {
    for (const name of names) {
      if (aliasForm.test(name)) await runScript(this.#redis, forgetScript, [this.#key(name)], at.getTime());
    }
  }

  /** For a record whose journeys are erased: lets an id that came in again expire soon; a delivery just stored may still need the id. */
  async fade(name: string): Promise<void> {
    if (aliasForm.test(name)) await this.#redis.pexpire(this.#key(name), fadeMs);
  }

  #key(alias: string): string {
    return `${this.#tag}:alias:${alias}`;
  }
}

/** Real time. */
const fadeMs = 86_400_000;

const aboutAlias = (alias: string): string => `id of ${alias}`;

/** Ids may be written as in an address: %40. */
function decoded(recordId: string): string {
  try {
    return decodeURIComponent(recordId);
  } catch {
    return recordId;
  }
}
