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
 * A page of an index, in its order: what comes next after a place, or what comes before it. The place need not be an entry any more,
 * and as many entries as may be can have its score: it is searched for among them by halves. Lua's own comparison goes by the
 * server's language, and Redis's order by bytes.
 * KEYS index · ARGV score and id of the place, 'next' or 'previous', page size
 */
const pageScript = `
local function isBefore(one, other)
  for i = 1, math.min(#one, #other) do
    if one:byte(i) ~= other:byte(i) then return one:byte(i) < other:byte(i) end
  end
  return #one < #other
end
local from = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[1])
local to = redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[1])
while from < to do
  local middle = math.floor((from + to) / 2)
  local id = redis.call('ZRANGE', KEYS[1], middle, middle)[1]
  if isBefore(id, ARGV[2]) or (ARGV[3] == 'next' and id == ARGV[2]) then from = middle + 1 else to = middle end
end
if ARGV[3] == 'next' then return redis.call('ZRANGE', KEYS[1], from, from + ARGV[4] - 1, 'WITHSCORES') end
if from == 0 then return {} end
return redis.call('ZRANGE', KEYS[1], math.max(0, from - ARGV[4]), from - 1, 'WITHSCORES')`;

/** Page size of a list that its caller may leave at any entry. */
const latestSize = 200;

/** A journey in the list of its state. */
interface ListEntry {
  id: string;
  /** When it was last changed (waiting: is due), in milliseconds. */
  at: number;
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

  /** Every journey of a record whose customer has this address, or this id at the vendor, whoever was chosen to be asked; also by the address's keyed digest. Oldest closing first. */
  async knownBy(who: Who | { digest: string }, left?: Left): Promise<Journey[]> {
    return await this.#reader.those(await this.#redis.zrange(this.#keys.person(who), '0', '-1'), left);
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
    let last: ListEntry = { id: '', at: since?.getTime() ?? 0 };
    for (;;) {
      const page = (await this.#page(state, 'next', last, size)).filter(({ at }) => at <= before.getTime());
      if (page.length > 0) yield page.map(({ id }) => id);
      if (page.length < size) return;
      last = page.at(-1) ?? last;
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
   * @param from begins behind this place
   */
  async *latest(states: readonly JourneyState[], from?: ListEntry): AsyncGenerator<ListEntry, undefined> {
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

  /** Skips no journey while others change state. */
  async *#latestIn(
    state: JourneyState,
    from: ListEntry = { id: '', at: Number.MAX_SAFE_INTEGER },
  ): AsyncGenerator<ListEntry, undefined> {
    let last = from;
    for (;;) {
      const page = await this.#page(state, 'previous', last, latestSize);
      yield* page.toReversed();
      if (page.length < latestSize) return;
      last = page[0] ?? last;
    }
  }

  /** Entries of a state's list, earliest first, beside a place in it. */
  async #page(state: JourneyState, which: 'next' | 'previous', { id, at }: ListEntry, size: number) {
    const answer = await runScript(this.#redis, pageScript, [this.#keys.state(state)], at, id, which, size);
    const flat = z.array(z.string()).parse(answer);
    return [...slices(flat, 2)].map(([entry = '', score]): ListEntry => ({ id: entry, at: Number(score) }));
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
