import { z } from 'zod';
import { type Contact, contactKey } from '../../core/contact.ts';
import { slices } from '../../core/spread.ts';
import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';
import { type Counts, countsBetween } from './hourly-counts.ts';
import { type Journey, type JourneyState, journeyStates } from './journey.ts';
import type { JourneyKeys, Who } from './journey-keys.ts';
import type { JourneyReader, Left } from './reader.ts';

/**
 * The next page of an index, with scores: after the last of the given ids that still has its score; where none has, from that
 * score on.
 * KEYS index · ARGV score at the end of the page before, page size, the ids of that score…
 */
const pageScript = `
local start = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[1])
for i = #ARGV, 3, -1 do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[1] then
    start = redis.call('ZRANK', KEYS[1], ARGV[i]) + 1
    break
  end
end
return redis.call('ZRANGE', KEYS[1], start, start + ARGV[2] - 1, 'WITHSCORES')`;

/** Page size of a list that its caller may leave at any entry. */
const latestSize = 200;

/** A journey in the list of its state. */
interface ListEntry {
  id: string;
  /** When it was last changed (waiting: is due), in milliseconds. */
  at: number;
}

interface Beginning {
  at: number;
  isPast: (id: string) => boolean;
}

function isBefore(one: ListEntry, other: ListEntry | undefined): boolean {
  return other === undefined || one.at > other.at || (one.at === other.at && one.id > other.id);
}

/** Lists of the journeys of one source. Changes nothing. */
export class JourneyQueries {
  readonly #redis: RedisClient;
  readonly #keys: JourneyKeys;
  readonly #reader: JourneyReader;

  constructor(redis: RedisClient, keys: JourneyKeys, reader: JourneyReader) {
    this.#redis = redis;
    this.#keys = keys;
    this.#reader = reader;
  }

  /**
   * The journeys about a person, by the vendor's id of them or by the contact that was chosen; or those that asked a contact as a
   * test.
   */
  async of(who: Who, left?: Left): Promise<Journey[]> {
    const found = await this.knownBy(who, left);
    if (!('contact' in who)) return found;
    const wanted = contactKey(who.contact);
    return found.filter(({ contact }) => contact && contactKey(contact) === wanted);
  }

  /** Every journey of a record whose customer has this address, or this id at the vendor, whoever was chosen to be asked; also by the address's keyed digest. */
  async knownBy(who: Who | { digest: string }, left?: Left): Promise<Journey[]> {
    return await this.#reader.those(await this.#redis.smembers(this.#keys.person(who)), left);
  }

  /** Whether `knownBy` has this journey. */
  isKnownBy(journey: Journey, contact: Contact): boolean {
    return this.#keys.people(journey).includes(this.#keys.person({ contact }));
  }

  /** Every journey, unordered; journeys that are made or change state meanwhile may be missing or come twice. */
  async *all(left?: Left): AsyncGenerator<Journey> {
    for (const state of journeyStates) {
      let cursor = '0';
      do {
        const [next, flat] = await this.#redis.zscan(this.#keys.state(state), cursor, 'COUNT', 500);
        cursor = next;
        for (let i = 0; i < flat.length; i += 2) {
          const journey = await this.#reader.readable(flat[i] ?? '', left);
          if (journey) yield journey;
        }
      } while (cursor !== '0');
    }
  }

  async those(ids: readonly string[]): Promise<Journey[]> {
    return await this.#reader.those(ids);
  }

  /** Ids in one state, by last change (waiting: by when they are due), earliest first. */
  async idsIn(state: JourneyState, options: { since?: Date; before?: Date; limit?: number } = {}): Promise<string[]> {
    const { since, before, limit = 1000 } = options;
    const [from, until] = [since?.getTime() ?? '-inf', before?.getTime() ?? '+inf'];
    return await this.#redis.zrangebyscore(this.#keys.state(state), from, until, 'LIMIT', 0, limit);
  }

  /** When the first journey in this state was last changed (waiting: when it is due); undefined: none is in it. */
  async firstIn(state: JourneyState): Promise<Date | undefined> {
    const [, score] = await this.#redis.zrange(this.#keys.state(state), '0', '0', 'WITHSCORES');
    return score === undefined ? undefined : new Date(Number(score));
  }

  /** Journeys in one state, in the order of `idsIn`. */
  async oldestIn(state: JourneyState, options: { since?: Date; limit: number }): Promise<Journey[]> {
    return await this.#reader.those(await this.idsIn(state, options));
  }

  /**
   * All ids in one state, by last change (waiting: by when they are due), earliest first, page by page. A journey that changes
   * meanwhile comes at most once more.
   */
  async *pagesIn(state: JourneyState, before: Date, size: number, since?: Date): AsyncGenerator<string[]> {
    let score = since ? String(since.getTime()) : '-inf';
    // The ids of the last page's last millisecond: 100,000 journeys may be due in one millisecond, as a window opens.
    let last: string[] = [];
    for (;;) {
      const answer = await runScript(this.#redis, pageScript, [this.#keys.state(state)], score, size, ...last);
      const flat = z.array(z.string()).parse(answer);
      const found = flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, score: flat[i + 1] ?? '' }] : []));
      const rows = found.filter((row) => Number(row.score) <= before.getTime());
      score = rows.at(-1)?.score ?? score;
      last = rows.filter((row) => row.score === score).map(({ id }) => id);
      if (rows.length > 0) yield rows.map(({ id }) => id);
      if (rows.length < size) return;
    }
  }

  /** Journeys of these states, last changed first (waiting: last due first), a page at a time. */
  async *newest(states: readonly JourneyState[]): AsyncGenerator<Journey> {
    for await (const { id } of this.latest(states)) {
      const journey = await this.#reader.readable(id);
      if (journey) yield journey;
    }
  }

  /**
   * Where journeys of these states stand in their lists: in the order of `newest`, those of one millisecond by id, from the last.
   * @param from begins at this instant, with the ids that are not past
   */
  async *latest(states: readonly JourneyState[], from?: Beginning): AsyncGenerator<ListEntry, undefined> {
    const lists = states.map((state) => this.#latestIn(state, from));
    const heads = await Promise.all(lists.map(async (list) => (await list.next()).value));
    for (;;) {
      const at = heads.reduce((best, head, i) => (head && isBefore(head, heads[best]) ? i : best), 0);
      const next = heads[at];
      if (!next) return;
      heads[at] = (await lists[at]?.next())?.value;
      yield next;
    }
  }

  /** Skips no journey while others change state, also where many were changed in one millisecond. */
  async *#latestIn(state: JourneyState, from?: Beginning): AsyncGenerator<ListEntry, undefined> {
    let score = from === undefined ? '+inf' : String(from.at);
    let seen: string[] = [];
    for (;;) {
      const size = Math.max(latestSize, 2 * seen.length);
      const page = [this.#keys.state(state), score, '-inf', 'WITHSCORES', 'LIMIT', 0, size] as const;
      const flat = await this.#redis.zrevrangebyscore(...page);
      const isSeen = new Set(seen);
      const rows = [...slices(flat, 2)].map(([id = '', at = '']) => ({ id, at }));
      const fresh = rows.filter(({ id }) => !isSeen.has(id));
      for (const { id, at } of fresh) {
        if (from === undefined || Number(at) < from.at || !from.isPast(id)) yield { id, at: Number(at) };
      }
      if (rows.length < size) return;
      const last = rows.at(-1)?.at ?? score;
      seen = [...(last === score ? seen : []), ...fresh.filter(({ at }) => at === last).map(({ id }) => id)];
      score = last;
    }
  }

  /** How many journeys got into this state in these days and are still in it (waiting: are due in them). */
  async countIn(state: JourneyState, { from, until }: { from: Date; until: Date }): Promise<number> {
    return await this.#redis.zcount(this.#keys.state(state), from.getTime(), `(${until.getTime()}`);
  }

  /** How many were asked and answered in this time, to the hour, by campaign; of the last 400 days. */
  async countsBetween(time: { from: Date; until: Date }): Promise<Map<number, Counts>> {
    return await countsBetween(this.#redis, (day) => this.#keys.counts(day), time);
  }

  async counts(): Promise<Record<JourneyState, number>> {
    const entries = await Promise.all(
      journeyStates.map(async (state) => [state, await this.#redis.zcard(this.#keys.state(state))] as const),
    );
    return Object.fromEntries(entries) as Record<JourneyState, number>;
  }
}
