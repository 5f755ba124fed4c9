import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';
import type { Journey } from './journey.ts';
import type { JourneyKeys } from './journey-keys.ts';
import type { JourneyReader, Left } from './reader.ts';
import { mayHaveAsked } from './transitions.ts';

/**
 * The record went into another: that one's customer counts as asked if this one's was, and remembers where it came from,
 * for when it is merged itself. Of a record that nothing is known of it is remembered for a while where it went.
 * KEYS record gone, record that remains · ARGV id of the one gone, of the one that remains, milliseconds
 */
const mergeScript = `
local isKnown = redis.call('PTTL', KEYS[1]) == -1
redis.call('HSET', KEYS[1], 'into', ARGV[2])
if not isKnown then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return 1
end
local asked = redis.call('HGET', KEYS[1], 'asked')
if asked then redis.call('HSETNX', KEYS[2], 'asked', asked) end
redis.call('HSET', KEYS[2], 'from:' .. ARGV[1], 1)
redis.call('PERSIST', KEYS[2])
return 1`;

/** How long a merge is remembered of a record that nothing else is known of: merges may be told in any order. */
const unknownMs = 30 * 86_400_000;

/**
 * What the records' hash remembers beyond a journey: which one is the latest, and which one asked the customer, be it of a
 * record that was merged into this one.
 */
export interface RecordHistory {
  latest: string | undefined;
  asked: string | undefined;
  /** When that one's closing was; undefined where it can't be told, or is another record's. */
  askedClosedAt?: Date | undefined;
}

type RecordHash = { id: string; memory: Record<string, string> };

/** What is remembered of each record of one source: its journeys, who was asked about it, and where it was merged. */
export class RecordMemory {
  readonly #redis: RedisClient;
  readonly #keys: JourneyKeys;
  readonly #reader: JourneyReader;

  constructor(redis: RedisClient, keys: JourneyKeys, reader: JourneyReader) {
    this.#redis = redis;
    this.#keys = keys;
    this.#reader = reader;
  }

  /** The journey that this event started or was counted to, if any: saves reading the record again. */
  async ofEvent(recordId: string, eventKey: string): Promise<Journey | undefined> {
    const id = await this.#redis.hget(this.#keys.record(recordId), this.#keys.eventField(eventKey));
    return id === null ? undefined : (await this.#reader.read(id))?.journey;
  }

  /** The journey of this closing, if there is one: saves reading the record. */
  async ofClosing(recordId: string, closing: string): Promise<Journey | undefined> {
    const id = await this.#redis.hget(this.#keys.record(recordId), this.#keys.closingField(closing));
    return id === null ? undefined : (await this.#reader.read(id))?.journey;
  }

  async historyOf(recordId: string): Promise<RecordHistory> {
    const memories = await this.#memoriesOf(recordId);
    const latest = memories[0]?.memory.latest;
    for (const one of memories) {
      const found = await this.#askedOf(one);
      if (!found) continue;
      const { asked, journey } = found;
      return { latest, asked, askedClosedAt: journey?.recordId === recordId ? journey.closedAt : undefined };
    }
    return { latest, asked: undefined };
  }

  /**
   * By the record's mark; of several journeys also without it, as the mark was a later one's, which came to nothing.
   * `journey` is left out of one that is gone, or that can't be read.
   */
  async #askedOf({ id, memory }: RecordHash): Promise<{ asked: string; journey?: Journey } | undefined> {
    const { asked, count = '0' } = memory;
    if (asked !== undefined) {
      const journey = await this.#reader.readable(asked);
      // After several merges it may still stand for a journey that turned out to have asked nobody.
      if (!journey || mayHaveAsked(journey)) return { asked, ...(journey && { journey }) };
    }
    for (let n = Number(count); n >= 1 && count !== '1'; n--) {
      const journey = await this.#reader.readable(`${id}.${n}`);
      const isOwn = journey?.requestId !== undefined || journey?.intent !== undefined;
      if (journey && isOwn && mayHaveAsked(journey)) return { asked: journey.id, journey };
    }
    return undefined;
  }

  /** The journey that a closing has, or the name that its journey would get. */
  async nameOf(recordId: string, closing: string): Promise<{ id: string; exists: boolean }> {
    const [id, count] = await this.#redis.hmget(this.#keys.record(recordId), this.#keys.closingField(closing), 'count');
    return id ? { id, exists: true } : { id: `${recordId}.${Number(count ?? 0) + 1}`, exists: false };
  }

  /** Every journey of a record, first to last; also those of records that were merged into it. */
  async journeysOf(recordId: string, left?: Left): Promise<Journey[]> {
    const memories = await this.#memoriesOf(recordId);
    const ids = memories.flatMap(({ id, memory }) =>
      Array.from({ length: Number(memory.count ?? 0) }, (_, i) => `${id}.${i + 1}`),
    );
    return await this.#reader.those(ids, left);
  }

  /** `gone` lives on as `remaining`. Tell its journeys as well (`Journey.currentId`). */
  async merge(gone: string, remaining: string): Promise<void> {
    if (gone === remaining) return;
    const keys = [this.#keys.record(gone), this.#keys.record(remaining)];
    await runScript(this.#redis, mergeScript, keys, gone, remaining, unknownMs);
  }

  /** What `gone`, which was merged into `into`, lives on as: that may have been merged before this was told. */
  async remainingOf(gone: string, into: string): Promise<string> {
    const seen = new Set([gone]);
    let remaining = into;
    for (;;) {
      seen.add(remaining);
      const next = await this.#redis.hget(this.#keys.record(remaining), 'into');
      if (next === null || seen.has(next)) return remaining;
      remaining = next;
    }
  }

  /** What is remembered of a record, and then of those that were merged into it, and into these. */
  async #memoriesOf(recordId: string, seen = new Set<string>()): Promise<RecordHash[]> {
    if (seen.has(recordId)) return [];
    seen.add(recordId);
    const memory = await this.#redis.hgetall(this.#keys.record(recordId));
    const found: RecordHash[] = [{ id: recordId, memory }];
    for (const field of Object.keys(memory)) {
      if (field.startsWith('from:')) found.push(...(await this.#memoriesOf(field.slice(5), seen)));
    }
    return found;
  }
}
