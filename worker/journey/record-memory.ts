import { type RedisClient, runScript } from '../redis/client.ts';
import type { Journey } from './journey.ts';
import type { JourneyKeys } from './journey-keys.ts';
import { changeMs, changeScript, mergeScript, unknownMs } from './journey-scripts.ts';
import { mayHaveAsked } from './outcomes.ts';
import type { JourneyReader, OnUnreadable } from './stored-journey.ts';

/**
 * The latest journey of a record, and the journey that asked the record's customer, which may be of a record that was merged into it.
 */
export interface RecordHistory {
  latest: string | undefined;
  asked: string | undefined;
  /** When the closing of `asked` was; undefined where the journey can't be read, or is another record's. */
  askedClosedAt?: Date | undefined;
  /** The journey asked a test contact. */
  wasTest?: boolean | undefined;
}

interface Memory {
  id: string;
  /** How many journeys were made of the record. */
  count: number;
  /** The journey that asked: the record's own, or of a record that was merged into this one. */
  asked: string | undefined;
  /** The record's events and closings, each with the number of its journey. */
  names: string;
  /** The journey that asked, and the time at which the record was found changed, both as Redis has them. */
  seen: string;
}

/** The memory of a record, then of the records that were merged into it, recursively. */
type Memories = readonly [Memory, ...Memory[]];

/** The memory of a record as it was read, with the memories of the records that were merged into it. */
export class RememberedRecord {
  readonly #keys: JourneyKeys;
  readonly #reader: JourneyReader;
  readonly #own: Memory;
  readonly #all: Memories;

  constructor(keys: JourneyKeys, reader: JourneyReader, all: Memories) {
    this.#keys = keys;
    this.#reader = reader;
    this.#own = all[0];
    this.#all = all;
  }

  /** The journey that this event started or belongs to, or that this closing has, if any: saves reading the record at the vendor. */
  async journeyOf(eventKey: string, closing: string | undefined): Promise<Journey | undefined> {
    const ofClosing = closing === undefined ? undefined : this.#named(this.#keys.closingName(closing));
    const id = this.#named(this.#keys.eventName(eventKey)) ?? ofClosing;
    return id === undefined ? undefined : (await this.#reader.read(id))?.journey;
  }

  /** The part that a later event would change: whether the record was asked about, and when it changed. Undefined where merged records count as well. */
  get seen(): string | undefined {
    return this.#all.length === 1 ? this.#own.seen : undefined;
  }

  /** Whether the event started a journey, or belongs to one. */
  hasEvent(eventKey: string): boolean {
    return this.#named(this.#keys.eventName(eventKey)) !== undefined;
  }

  /** The id of the closing's journey, or the id that its journey would get. */
  nameOf(closing: string): { id: string; exists: boolean } {
    const id = this.#named(this.#keys.closingName(closing));
    return { id: id ?? idOf(this.#own.id, this.#own.count + 1), exists: id !== undefined };
  }

  /** Every journey of the record, oldest first; also the journeys of records that were merged into it. */
  async journeys(left?: OnUnreadable): Promise<Journey[]> {
    return await this.#reader.those(this.#journeyIds(), left);
  }

  /** Every journey of the record but this one; `isNewer`: the journey is about a later closing. */
  async others(id: string): Promise<{ other: Journey; isNewer: boolean }[]> {
    const ids = this.#journeyIds();
    const others = await this.#reader.those(ids.filter((one) => one !== id));
    return others.map((other) => ({ other, isNewer: ids.indexOf(other.id) > ids.indexOf(id) }));
  }

  #journeyIds(): string[] {
    return this.#all.flatMap(({ id, count }) => Array.from({ length: count }, (_, i) => idOf(id, i + 1)));
  }

  async history(): Promise<RecordHistory> {
    const { id: recordId, count } = this.#own;
    const latest = count === 0 ? undefined : idOf(recordId, count);
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
   * The journey that is remembered to have asked, or else the record's last journey that may have asked: a later journey, which came to
   * nothing, may have been remembered in its place. `journey` is undefined where that journey is gone or can't be read.
   */
  async #askedOf({ id, count, asked }: Memory): Promise<{ asked: string; journey?: Journey } | undefined> {
    if (asked !== undefined) {
      const journey = await this.#reader.readable(asked);
      // After several merges the remembered journey may be one that turned out to have asked nobody.
      if (!journey || mayHaveAsked(journey)) return { asked, ...(journey && { journey }) };
    }
    for (let n = count; n >= 1 && count !== 1; n--) {
      const journey = await this.#reader.readable(idOf(id, n));
      const isOwn = journey?.requestId !== undefined || journey?.intent !== undefined;
      if (journey && isOwn && mayHaveAsked(journey)) return { asked: journey.id, journey };
    }
    return undefined;
  }

  #named(name: string): string | undefined {
    const { id, names } = this.#own;
    const from = names.indexOf(` ${name}`);
    return from < 0 ? undefined : idOf(id, Number.parseInt(names.slice(from + 1 + name.length), 10));
  }
}

const Stored = /^(?<count>\d+) \d+ (?<asked>\d+)(?<names>.*)$/s;

function idOf(recordId: string, n: number): string {
  return `${recordId}.${n}`;
}

/**
 * The memory of each record of one source, whose layout is in journey-scripts.ts: its journeys, who was asked about it, and what events say of
 * it: that it was merged, or may have changed otherwise.
 */
export class RecordMemory {
  readonly #redis: RedisClient;
  readonly #keys: JourneyKeys;
  readonly #reader: JourneyReader;

  constructor(redis: RedisClient, keys: JourneyKeys, reader: JourneyReader) {
    this.#redis = redis;
    this.#keys = keys;
    this.#reader = reader;
  }

  /** One read from Redis, unless records were merged into this record. */
  async read(recordId: string): Promise<RememberedRecord> {
    return new RememberedRecord(this.#keys, this.#reader, await this.#memoriesOf(recordId));
  }

  async historyOf(recordId: string): Promise<RecordHistory> {
    return await (await this.read(recordId)).history();
  }

  async nameOf(recordId: string, closing: string): Promise<{ id: string; exists: boolean }> {
    return (await this.read(recordId)).nameOf(closing);
  }

  async journeysOf(recordId: string, left?: OnUnreadable): Promise<Journey[]> {
    return await (await this.read(recordId)).journeys(left);
  }

  /**
   * Notes that the record may be open, gone or merged by now. To be called before its journeys are read, to end them: a closing that was read
   * before then either has a journey that is found, or can't be stored any more (`Drafts.make`).
   */
  async noteChanged(recordId: string): Promise<void> {
    await runScript(this.#redis, changeScript, [this.#keys.merges(recordId)], changeMs);
  }

  /** Notes that `gone` was merged into `remaining`. The caller updates the journeys (`Journey.currentId`). */
  async merge(gone: string, remaining: string): Promise<void> {
    if (gone === remaining) return;
    const keys = [this.#keys.merges(gone), this.#keys.merges(remaining)];
    await runScript(this.#redis, mergeScript, keys, this.#keys.tag, gone, remaining, unknownMs);
  }

  /** The record that `gone` lives on as: `into`, or what `into` itself was merged into. */
  async remainingOf(gone: string, into: string): Promise<string> {
    const seen = new Set([gone]);
    let remaining = into;
    for (;;) {
      seen.add(remaining);
      const next = await this.#redis.hget(this.#keys.merges(remaining), 'into');
      if (next === null || seen.has(next)) return remaining;
      remaining = next;
    }
  }

  /** @param read records whose memory was read already */
  async #memoriesOf(recordId: string, read = new Set<string>()): Promise<Memories> {
    read.add(recordId);
    const [stored, merges] = await Promise.all([
      this.#redis.hget(this.#keys.records(recordId), recordId),
      this.#redis.hgetall(this.#keys.merges(recordId)),
    ]);
    const { count = 0, asked = '0', names = '' } = Stored.exec(stored ?? '')?.groups ?? {};
    const askedOne = asked === '0' ? merges.asked : idOf(recordId, Number(asked));
    const merged: Memory[] = [];
    for (const field of Object.keys(merges)) {
      const from = field.startsWith('from:') ? field.slice(5) : undefined;
      if (from !== undefined && !read.has(from)) merged.push(...(await this.#memoriesOf(from, read)));
    }
    const own = {
      id: recordId,
      count: Number(count),
      asked: askedOne,
      names,
      seen: `${asked} ${merges.changes ?? ''}`,
    };
    return [own, ...merged];
  }
}
