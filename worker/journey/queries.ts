import { z } from 'zod';
import { type Contact, contactKey } from '../../core/contact.ts';
import { slices } from '../../core/spread.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { callNames, type JourneyCall } from './calls.ts';
import { countsBetween, type HourCounts } from './hourly-counts.ts';
import { type Journey, type JourneyState, journeyStates } from './journey.ts';
import type { JourneyKeys, Who } from './journey-keys.ts';
import { endOfTime, type ListEntry, type ListName, type StateLists } from './state-lists.ts';
import type { JourneyReader, OnUnreadable } from './stored-journey.ts';

/** Entries of the first page of a list whose caller may stop at any entry, and of a later one; each page has twice as many as the one before. */
const [firstSize, latestSize] = [50, 400];

/** Reads entries of many people at once: a command for each takes longer than all else. KEYS sorted set of each person · ARGV most, then from and to of each… */
const entriesScript = `
local found = {}
for i, key in ipairs(KEYS) do
  found[i] = redis.call('ZRANGEBYLEX', key, ARGV[2 * i], ARGV[2 * i + 1], 'LIMIT', 0, ARGV[1])
end
return found`;
const Entries = z.array(z.array(z.string()));
const peopleAtOnce = 50;

function isBefore(one: ListEntry, other: ListEntry | undefined): boolean {
  return other === undefined || one.at > other.at || (one.at === other.at && one.id > other.id);
}

/** Lists of the journeys of one source. Changes nothing. */
export class JourneyQueries {
  readonly #redis: RedisClient;
  readonly #keys: JourneyKeys;
  readonly #reader: JourneyReader;
  readonly #lists: StateLists;

  constructor(redis: RedisClient, keys: JourneyKeys, { reader, lists }: { reader: JourneyReader; lists: StateLists }) {
    this.#redis = redis;
    this.#keys = keys;
    this.#reader = reader;
    this.#lists = lists;
  }

  /**
   * The journeys about a person, by the vendor's id of the person or by the contact that was chosen; or the journeys that asked a test
   * contact.
   */
  async of(who: Who, left?: OnUnreadable): Promise<Journey[]> {
    const found = await this.knownBy(who, left);
    if (!('contact' in who)) return found;
    const wanted = contactKey(who.contact);
    return found.filter(({ contact }) => contact && contactKey(contact) === wanted);
  }

  /** Every journey of a record whose customer has this address, or this id at the vendor, whichever contact was chosen; the address may be given by its keyed digest. Oldest closing first. */
  async knownBy(who: Who | { digest: string }, left?: OnUnreadable): Promise<Journey[]> {
    const { key, from, to } = this.#keys.personRange(this.#keys.person(who));
    const entries = await this.#redis.zrangebylex(key, `[${from}`, `(${to}`);
    return await this.#inOrder(entries, left);
  }

  /** The journeys of the newest closings among those of `knownBy`, oldest first, and how many `knownBy` has. */
  async newestKnownBy(who: Who | { digest: string }, most: number): Promise<{ journeys: Journey[]; count: number }> {
    const { key, from, to } = this.#keys.personRange(this.#keys.person(who));
    const [entries, count] = await Promise.all([
      this.#redis.zrevrangebylex(key, `(${to}`, `[${from}`, 'LIMIT', 0, most),
      this.#redis.zlexcount(key, `[${from}`, `(${to}`),
    ]);
    return { journeys: await this.#inOrder(entries, undefined), count };
  }

  /**
   * The journeys of each person's closings at or after an instant (to the second), no more than `most` a person, in the order of `asked`. A
   * journey of several people is read once.
   * @param asked `but`: the id of a journey that is left out
   */
  async knownBySince(asked: readonly { who: Who; closedAt: Date; but?: string }[], most: number): Promise<Journey[][]> {
    const ids: string[][] = [];
    for (const some of slices(asked, peopleAtOnce)) {
      const ranges = some.map(({ who, closedAt }) => this.#keys.personRangeFrom(this.#keys.person(who), closedAt));
      const bounds = ranges.flatMap(({ from, to }) => [`[${from}`, `(${to}`]);
      const keys = ranges.map(({ key }) => key);
      const entries = Entries.parse(await runScript(this.#redis, entriesScript, keys, most, ...bounds));
      for (const [i, { but }] of some.entries()) {
        const found = (entries[i] ?? []).map((entry) => this.#keys.journeyOfEntry(entry));
        ids.push(found.filter((id) => id !== but));
      }
    }
    const journeys = await this.#reader.those([...new Set(ids.flat())]);
    const byId = new Map(journeys.map((journey) => [journey.id, journey]));
    return ids.map((one) => one.flatMap((id) => byId.get(id) ?? []));
  }

  async #inOrder(entries: readonly string[], left: OnUnreadable | undefined): Promise<Journey[]> {
    const ids = entries.map((entry) => this.#keys.journeyOfEntry(entry));
    const journeys = await this.#reader.those(ids, left);
    return journeys.sort((a, b) => a.closedAt.getTime() - b.closedAt.getTime());
  }

  /** Whether `knownBy` has this journey. */
  isKnownBy(journey: Journey, contact: Contact): boolean {
    return this.#keys.people(journey).includes(this.#keys.person({ contact }));
  }

  /** Every journey, unordered; journeys that are made or change state meanwhile may be missing or come twice. */
  async *all(left?: OnUnreadable): AsyncGenerator<Journey> {
    for (const state of journeyStates) {
      for await (const ids of this.pagesIn(state, endOfTime, 500)) yield* await this.#reader.those(ids, left);
    }
  }

  /**
   * All ids in one state, by last change (waiting: by when they are due), or with an answer by when it came, earliest first, page by page. A journey that changes
   * meanwhile comes at most once more.
   */
  async *pagesIn(list: ListName, before: Date, size: number, since?: Date): AsyncGenerator<string[]> {
    let last: ListEntry = { id: '', at: since?.getTime() ?? 0 };
    for (;;) {
      const page = (await this.#lists.page(list, 'next', last, size)).filter(({ at }) => at <= before.getTime());
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
   * The list entries of journeys in these states, in the order of `newest`; entries of one millisecond by id, the last id first.
   * @param from begins behind this place
   */
  async *latest(states: readonly ListName[], from?: ListEntry): AsyncGenerator<ListEntry, undefined> {
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

  /** Leaves out no journey when others change state meanwhile. */
  async *#latestIn(
    state: ListName,
    from: ListEntry = { id: '', at: Number.MAX_SAFE_INTEGER },
  ): AsyncGenerator<ListEntry, undefined> {
    let last = from;
    for (let size = firstSize; ; size = Math.min(2 * size, latestSize)) {
      const page = await this.#lists.page(state, 'previous', last, size);
      yield* page;
      if (page.length < size) return;
      last = page.at(-1) ?? last;
    }
  }

  /** How many were asked and answered in this time, by campaign and hour; of the last 400 days. */
  async countsBetween(time: { from: Date; until: Date }): Promise<HourCounts[]> {
    return await countsBetween(this.#redis, (day) => this.#keys.counts(day), time);
  }

  /** The last calls that were made for a journey, as this object was read or saved. */
  async callsOf(journey: Journey): Promise<JourneyCall[]> {
    return await callNames(this.#redis, this.#keys.callNames).named(this.#reader.storedAs(journey)?.calls ?? []);
  }
}
