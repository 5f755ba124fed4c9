import { z } from 'zod';
import { type Contact, contactKey } from '../../core/contact.ts';
import { slices } from '../../core/spread.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { globalTag, sharedSpaces } from '../redis/keys.ts';
import { releaseLock } from '../redis/lock.ts';
import type { Seal } from '../redis/seal.ts';
import { addressDigest, bucketOf } from './journey-keys.ts';
import { LastAsked, memoryMs, type OwnNote, takenBack, withoutJourney, withRequestsOf } from './last-asked.ts';
import { changeScript, forgetScript, knownScript, lockScript, reserveScript, setScript } from './people-scripts.ts';
import { waitingClosings } from './waiting-closings.ts';

/** The most addresses of one person. A mailbox or number with more is shared, as in an office. */
const mostAddresses = 16;

/** A throttle, as it is at the moment of asking. */
export interface Limit {
  /** Requests after this instant count. */
  since: Date;
  /** Undefined: requests in every campaign count. */
  campaigns: ReadonlySet<number> | undefined;
}

export interface Reservation {
  contactKey: string;
  campaign: number;
  note: LastAsked;
  limits: readonly Limit[];
}

/** A throttle that holds back a request. `limit`: its position among the limits; `at`: the time of the last request that the throttle counts. */
export interface HeldBy {
  limit: number;
  at: Date;
  journey: string;
}

const HeldReply = z.union([z.array(z.tuple([z.number(), z.number(), z.string()])), z.string()]);
const LockReply = z.union([z.tuple([z.string(), z.string().nullable()]), z.tuple([])]);
const KnownReply = z.tuple([z.string()], z.string());

/** A request that throttles count. */
export interface Ask {
  /** Undefined: not known. */
  campaign: number | undefined;
  journey: string;
  at: Date;
}

/** A person who is locked for one journey, with the note of the address that the journey asks. */
export interface LockedPerson {
  person: string;
  last: LastAsked | undefined;
}

function heldIn(reply: Exclude<z.output<typeof HeldReply>, string>): HeldBy[] {
  return reply.map(([limit, at, journey]) => ({ limit, at: new Date(at), journey }));
}

/** A note as Redis has it: the instant, then the campaign and the journey; JSON where the note has further fields. */
function textOf({ at, journey, campaign, ...more }: LastAsked): string {
  const plain = campaign === undefined ? journey : `${campaign} ${journey}`;
  // Scripts compare instants, so they are numbers.
  const earlier = more.earlier?.map((one) => ({ ...one, at: one.at.getTime() }));
  const json = () => JSON.stringify({ journey, campaign, ...more, earlier });
  return `${at.getTime()} ${Object.keys(more).length === 0 ? plain : json()}`;
}

const plainForm = /^(?:(?<campaign>\d+) )?(?<journey>.*)$/s;

function noteIn(stored: string | null | undefined): LastAsked | undefined {
  if (stored == null) return undefined;
  const [at, text] = [stored.slice(0, stored.indexOf(' ')), stored.slice(stored.indexOf(' ') + 1)];
  // A journey's mark begins with its source's name, which never begins with a brace, nor has a space.
  if (text.startsWith('{')) {
    const note = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
    return LastAsked.parse({ ...note, at: Number(at) });
  }
  const { campaign, journey } = plainForm.exec(text)?.groups ?? {};
  return LastAsked.parse({ at: Number(at), journey, ...(campaign !== undefined && { campaign: Number(campaign) }) });
}

/**
 * The data about one person that all sources share: who is asking right now, when they were asked, and by which addresses they are
 * known. Keys hold a keyed digest of an address, never the address.
 */
export class ContactMemory {
  readonly #redis: RedisClient;
  readonly #seal: Seal;
  readonly #linkMs: number;
  /** Whether any throttle has `prefer: latest`. */
  readonly comparesWaiting: boolean;
  readonly waits: ReturnType<typeof waitingClosings>;
  readonly #space: string;

  /**
   * @param linkMs the longest throttle: links between addresses are kept for so long, and requests at least; 0: no throttle needs links
   * @param space whose memory: `spaceOf`
   */
  constructor(redis: RedisClient, seal: Seal, linkMs = 0, comparesWaiting = false, space: string = globalTag) {
    this.#redis = redis;
    this.#seal = seal;
    this.#linkMs = linkMs;
    this.comparesWaiting = comparesWaiting;
    this.waits = waitingClosings((script, contactKey, ...args) => {
      const address = this.addressOf(contactKey);
      return runScript(redis, script, [this.#linksOf(address)], address, ...args);
    }, comparesWaiting);
    this.#space = space;
  }

  /**
   * One journey at a time may ask a person: the service's counters are compared before and after, and the throttles are
   * read and written, under this lock. It ends by itself after `ttlMs`. Also links the addresses.
   * @param others further addresses of the person, as `addressOf` names them
   * @returns the person, to be released, and the contact's note; undefined while another journey has the lock
   */
  async lock(
    contactKey: string,
    token: string,
    ttlMs: number,
    others: readonly string[] = [],
  ): Promise<LockedPerson | undefined> {
    const [person, note] = await this.#link(contactKey, others, token, ttlMs);
    return person === undefined ? undefined : { person, last: noteIn(note) };
  }

  async release({ person }: LockedPerson, token: string): Promise<void> {
    await releaseLock(this.#redis, `${this.#space}:person:${person}:lock`, token);
  }

  /** Whether any throttle needs to know by which addresses a person is known. */
  get isLinking(): boolean {
    return this.#linkMs > 0;
  }

  /** Links addresses of one person. While a journey is asking the person, the links stay as they are. */
  async link(contactKey: string, others: readonly string[]): Promise<void> {
    if (this.isLinking && others.length > 0) await this.#link(contactKey, others, '', 0);
  }

  /** The digest that stands for an address, or for a vendor's id of a person. */
  addressOf(contactKey: string): string {
    return addressDigest(this.#seal, contactKey);
  }

  async lastAsked(contactKey: string): Promise<LastAsked | undefined> {
    return noteIn(await this.#redis.hget(...this.#noteOf(contactKey)));
  }

  /** How many addresses the person with this address has, and the person's requests that throttles count. */
  async recordOf(contactKey: string): Promise<{ addresses: number; asks: Ask[] }> {
    const address = this.addressOf(contactKey);
    const reply = await runScript(this.#redis, knownScript, [this.#linksOf(address)], address);
    const [addresses, ...flat] = KnownReply.parse(reply);
    const asks = [...slices(flat, 3)].map(([at, campaign, journey = '']) => ({
      campaign: campaign ? Number(campaign) : undefined,
      journey,
      at: new Date(Number(at)),
    }));
    return { addresses: Number(addresses), asks: asks.sort((a, b) => b.at.getTime() - a.at.getTime()) };
  }

  async setLastAsked(contactKey: string, value: LastAsked | undefined): Promise<void> {
    const [notes, address] = this.#noteOf(contactKey);
    await runScript(this.#redis, setScript, [notes], address, value ? textOf(LastAsked.parse(value)) : '', memoryMs);
  }

  /** Stores the note and the request unless a limit holds the request, in one step: no two workers can both find that nobody has asked. */
  async reserve(reservation: Reservation): Promise<HeldBy[]> {
    let note: LastAsked = { ...reservation.note, campaign: reservation.campaign };
    for (;;) {
      const reply = await this.#reserve(reservation, textOf(note));
      if (typeof reply !== 'string') return heldIn(reply);
      const stored = noteIn(reply);
      if (stored) note = withRequestsOf(note, stored);
    }
  }

  /** The throttles that hold this request, over all addresses of the person. Stores nothing. */
  async heldBy(reservation: Reservation): Promise<HeldBy[]> {
    const reply = await this.#reserve(reservation, '');
    return typeof reply === 'string' ? [] : heldIn(reply);
  }

  /**
   * Deletes the note of a person who was not asked after all, or who is erased: then also the note that dry runs have.
   * @param journey only if this journey made the note
   */
  async forgetAsked(contact: Contact, journey?: string): Promise<void> {
    const key = contactKey(contact);
    if (journey === undefined) {
      await this.unlink(this.addressOf(key));
      for (const space of sharedSpaces) await this.#redis.hdel(...this.#noteOf(key, space));
      return;
    }
    await this.#change(key, (last) => withoutJourney(last, journey));
  }

  /** Deletes, for an erasure, the links between the addresses of the person with this address, and the closings that wait. */
  async unlink(address: string): Promise<void> {
    for (const space of sharedSpaces)
      await runScript(this.#redis, forgetScript, [this.#linksOf(address, space)], address);
  }

  /**
   * Takes back the note of a journey that asked nobody: the note before it holds again. What another journey has noted since stays.
   * @param note as it was given to `reserve`
   */
  async takeBack(contactKey: string, note: OwnNote, before: LastAsked | undefined): Promise<void> {
    await this.#change(contactKey, (last) => takenBack(last, note, before));
  }

  /** Notes that the request of this journey was cancelled before it was sent. */
  async noteWithdrawn(contact: Contact, journey: string): Promise<void> {
    await this.#change(contactKey(contact), (last) =>
      last.journey === journey ? { ...last, withdrawn: true } : withoutJourney(last, journey),
    );
  }

  /** `decide` may be called several times. Nothing is written where it returns the note that it was given. */
  async #change(contactKey: string, decide: (last: LastAsked) => LastAsked | undefined): Promise<void> {
    const [notes, address] = this.#noteOf(contactKey);
    for (;;) {
      const stored = await this.#redis.hget(notes, address);
      const last = noteIn(stored);
      if (stored === null || !last) return;
      const next = decide(last);
      if (next === last) return;
      const text = next ? textOf(LastAsked.parse(next)) : '';
      if ((await runScript(this.#redis, changeScript, [notes], address, text, memoryMs, stored)) === 1) return;
    }
  }

  async #link(contactKey: string, others: readonly string[], token: string, ttlMs: number) {
    const [notes, address] = this.#noteOf(contactKey);
    const keys = [this.#linksOf(address), notes];
    const args = [token, ttlMs, this.#linkMs, mostAddresses, address, ...others];
    return LockReply.parse(await runScript(this.#redis, lockScript, keys, ...args));
  }

  async #reserve({ contactKey, note, limits }: Reservation, text: string): Promise<z.output<typeof HeldReply>> {
    const [notes, address] = this.#noteOf(contactKey);
    const args: (string | number)[] = [text, Math.max(memoryMs, this.#linkMs), address, note.journey];
    for (const { since, campaigns } of limits)
      args.push(since.getTime(), campaigns === undefined ? '' : `,${[...campaigns].join(',')},`);
    return HeldReply.parse(await runScript(this.#redis, reserveScript, [notes], ...args));
  }

  #linksOf(address: string, space = this.#space): string {
    return `${space}:address:${address}`;
  }

  #noteOf(contactKey: string, space = this.#space): [notes: string, address: string] {
    const address = this.addressOf(contactKey);
    return [`${space}:notes:${bucketOf(address, 'notes')}`, address];
  }
}
