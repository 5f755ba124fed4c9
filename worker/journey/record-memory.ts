import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';
import type { Journey } from './journey.ts';
import type { JourneyKeys } from './journey-keys.ts';
import type { JourneyReader, Left } from './reader.ts';
import { mayHaveAsked } from './transitions.ts';

/**
 * Notes that a record was merged into another: the remaining record's customer counts as asked if the merged record's was. For a
 * record without journeys the merge is remembered for a while.
 * KEYS merged record, remaining record · ARGV their ids, milliseconds
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

/** How long the merge of a record without journeys is remembered: events may report merges in any order. */
const unknownMs = 30 * 86_400_000;

/**
 * The latest journey of a record, and the journey that asked its customer: also a journey of a record that was merged into it.
 */
export interface RecordHistory {
  latest: string | undefined;
  asked: string | undefined;
  /** When the closing of `asked` was; undefined where the journey can't be read, or is another record's. */
  askedClosedAt?: Date | undefined;
  /** It was asked as a test. */
  wasTest?: boolean | undefined;
}

type RecordHash = { id: string; memory: Record<string, string> };

/** What was remembered of a record when it was read, and of the records that were merged into it. */
export class RememberedRecord {
  readonly #keys: JourneyKeys;
  readonly #reader: JourneyReader;
  readonly #own: RecordHash;
  /** The record's own hash, then those of the records that were merged into it, recursively. */
  readonly #all: readonly RecordHash[];

  constructor(keys: JourneyKeys, reader: JourneyReader, own: RecordHash, merged: readonly RecordHash[]) {
    this.#keys = keys;
    this.#reader = reader;
    this.#own = own;
    this.#all = [own, ...merged];
  }

  /** The journey that this event started or belongs to, or that this closing has, if any: saves reading the record at the vendor. */
  async journeyOf(eventKey: string, closing: string | undefined): Promise<Journey | undefined> {
    const { memory } = this.#own;
    const ofClosing = closing === undefined ? undefined : memory[this.#keys.closingField(closing)];
    const id = memory[this.#keys.eventField(eventKey)] ?? ofClosing;
    return id === undefined ? undefined : (await this.#reader.read(id))?.journey;
  }

  /** The id of the closing's journey, or the id that its journey would get. */
  nameOf(closing: string): { id: string; exists: boolean } {
    const { id: recordId, memory } = this.#own;
    const id = memory[this.#keys.closingField(closing)];
    return id === undefined
      ? { id: idOf(recordId, Number(memory.count ?? 0) + 1), exists: false }
      : { id, exists: true };
  }

  /** Every journey of the record, oldest first; also the journeys of records that were merged into it. */
  async journeys(left?: Left): Promise<Journey[]> {
    return await this.#reader.those(this.#journeyIds(), left);
  }

  /** The same without the journey of this id; `isNewer`: it is about a later closing. */
  async others(id: string): Promise<{ other: Journey; isNewer: boolean }[]> {
    const ids = this.#journeyIds();
    const others = await this.#reader.those(ids.filter((one) => one !== id));
    return others.map((other) => ({ other, isNewer: ids.indexOf(other.id) > ids.indexOf(id) }));
  }

  #journeyIds(): string[] {
    return this.#all.flatMap(({ id, memory }) =>
      Array.from({ length: Number(memory.count ?? 0) }, (_, i) => idOf(id, i + 1)),
    );
  }

  async history(): Promise<RecordHistory> {
    const { id: recordId, memory } = this.#own;
    const latest = memory.count === undefined ? undefined : idOf(recordId, Number(memory.count));
    for (const one of this.#all) {
      const found = await this.#askedOf(one);
      if (!found) continue;
      const { asked, journey } = found;
      const askedClosedAt = journey?.recordId === recordId ? journey.closedAt : undefined;
      return { latest, asked, askedClosedAt, ...(journey?.test && { wasTest: true }) };
    }
    return { latest, asked: undefined };
  }

  /**
   * The journey that the record's hash names, or else the last of its journeys that may have asked: the named journey may have
   * been a later one that came to nothing. `journey` is undefined where it is gone or can't be read.
   */
  async #askedOf({ id, memory }: RecordHash): Promise<{ asked: string; journey?: Journey } | undefined> {
    const { asked, count = '0' } = memory;
    if (asked !== undefined) {
      const journey = await this.#reader.readable(asked);
      // After several merges the hash may still name a journey that turned out to have asked nobody.
      if (!journey || mayHaveAsked(journey)) return { asked, ...(journey && { journey }) };
    }
    for (let n = Number(count); n >= 1 && count !== '1'; n--) {
      const journey = await this.#reader.readable(idOf(id, n));
      const isOwn = journey?.requestId !== undefined || journey?.intent !== undefined;
      if (journey && isOwn && mayHaveAsked(journey)) return { asked: journey.id, journey };
    }
    return undefined;
  }
}

/** The record's n-th journey. */
function idOf(recordId: string, n: number): string {
  return `${recordId}.${n}`;
}

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

  /** In one read, unless records were merged into it. */
  async read(recordId: string): Promise<RememberedRecord> {
    const [own = { id: recordId, memory: {} }, ...merged] = await this.#memoriesOf(recordId);
    return new RememberedRecord(this.#keys, this.#reader, own, merged);
  }

  async historyOf(recordId: string): Promise<RecordHistory> {
    return await (await this.read(recordId)).history();
  }

  async nameOf(recordId: string, closing: string): Promise<{ id: string; exists: boolean }> {
    return (await this.read(recordId)).nameOf(closing);
  }

  async journeysOf(recordId: string, left?: Left): Promise<Journey[]> {
    return await (await this.read(recordId)).journeys(left);
  }

  /** Notes that `gone` was merged into `remaining`. The caller updates the journeys (`Journey.currentId`). */
  async merge(gone: string, remaining: string): Promise<void> {
    if (gone === remaining) return;
    const keys = [this.#keys.record(gone), this.#keys.record(remaining)];
    await runScript(this.#redis, mergeScript, keys, gone, remaining, unknownMs);
  }

  /** The record that `gone` lives on as: `into`, or what `into` itself was merged into. */
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

  /** The hash of a record, then those of the records that were merged into it, recursively. */
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
