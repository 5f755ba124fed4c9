import { z } from 'zod';
import { type Contact, contactKey } from '../../core/contact.ts';
import { slices } from '../../core/spread.ts';
import type { RedisClient } from '../redis/client.ts';
import { globalTag, sharedSpaces } from '../redis/keys.ts';
import { releaseLock } from '../redis/lock.ts';
import { runScript } from '../redis/script.ts';
import type { Seal } from '../redis/seal.ts';
import { addressDigest, bucketOf } from './journey-keys.ts';
import { keepingUnknown } from './keeping-unknown.ts';
import {
  addressesScript,
  forgetScript,
  knownScript,
  lockScript,
  noteWaitingScript,
  reserveScript,
  settingNotes,
  settledScript,
  waitingScript,
} from './people-scripts.ts';

const asked = {
  at: z.coerce.date(),
  journey: z.string(),
  /** Undefined: not known, as of a request that only the service knows. */
  campaign: z.number().int().optional(),
  /** When the service sends the request, where the service adds the campaign's delay: the contact's `last_appeal` then. */
  scheduled: z.coerce.date().optional(),
};
const LastAsked = keepingUnknown({
  ...asked,
  /** The request was cancelled before it was sent: the service's counters include it, the throttle does not. */
  withdrawn: z.boolean().optional(),
  /** Earlier requests that throttles count, newest first: also for a throttle that is set later, or when this request comes to nothing. */
  earlier: z.array(keepingUnknown(asked)).optional(),
});
export type LastAsked = z.output<typeof LastAsked>;

/** A request that throttles count. */
type AskedOnce = z.output<z.ZodObject<typeof asked>>;

/** How many earlier requests a note keeps over all campaigns. Beyond that it keeps this many of each campaign, as the last request may still be withdrawn. */
const mostEarlier = 10;
const mostOfCampaign = 2;

/** In place of a journey, for a request that only the service knows. */
export const elsewhere = 'elsewhere';

/** The note of the request before this one. */
export function beforeThat({ earlier = [] }: LastAsked): LastAsked | undefined {
  const [next, ...rest] = earlier;
  return next && { ...next, earlier: rest };
}

/** The note as an entry of a newer note's `earlier`. */
export function asEarlier({ earlier = [], ...one }: LastAsked): Pick<LastAsked, 'earlier'> {
  return { earlier: bounded([one, ...earlier]) };
}

/** The requests of a note that throttles count, newest first. */
function requestsIn({ earlier = [], withdrawn, ...last }: LastAsked): AskedOnce[] {
  return withdrawn ? earlier : [last, ...earlier];
}

/** The requests, newest first, that the note of an address keeps. */
function bounded(requests: readonly AskedOnce[]): AskedOnce[] {
  const counts = new Map<number | undefined, number>();
  const oldest = Math.max(...requests.map(({ at }) => at.getTime())) - memoryMs;
  return requests.filter(({ at, campaign }, i) => {
    const count = (counts.get(campaign) ?? 0) + 1;
    counts.set(campaign, count);
    return at.getTime() > oldest && (i < mostEarlier || count <= mostOfCampaign);
  });
}

/** The note, with requests added that only the other note has: another journey has asked since the note was begun. */
function withRequestsOf(note: LastAsked, other: LastAsked): LastAsked {
  const { journey, earlier = [] } = note;
  const known = new Set([journey, ...earlier.map((one) => one.journey)]);
  const missing = requestsIn(other).filter((one) => !known.has(one.journey));
  return { ...note, earlier: bounded([...missing, ...earlier]) };
}

/** The note without an earlier request; the same object where it has no such request. */
function withoutEarlier(note: LastAsked, isGone: (one: AskedOnce) => boolean): LastAsked {
  const earlier = note.earlier?.filter((one) => !isGone(one));
  return earlier?.length === note.earlier?.length ? note : { ...note, earlier };
}

/** How long requests are remembered: longer than any sensible throttle. */
const memoryMs = 400 * 86_400_000;

/** KEYS notes · ARGV address, the new note or '', ms */
const setScript = `${settingNotes}
setNote(KEYS[1], unpack(ARGV))
return 1`;

/** Compare and set, so that no concurrent change is lost. KEYS notes · ARGV address, the new note or '', ms, the note as read */
const changeScript = `${settingNotes}
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[4] then return 0 end
setNote(KEYS[1], unpack(ARGV, 1, 3))
return 1`;

/** The most addresses of one person. A mailbox or number with more is shared, as in an office. */
const mostAddresses = 16;

/** A throttle, as it is at the moment of asking. */
export interface Limit {
  /** Requests after this instant count. */
  since: Date;
  /** Undefined: requests in every campaign count. */
  campaigns: ReadonlySet<number> | undefined;
}

/** A request that is about to be made. */
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
  /** The journey of that request. */
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

/** A closing of a person that waits to be asked about. */
export interface WaitingClosing {
  /** The journey's mark (`markOf`). */
  journey: string;
  campaign: number;
  closedAt: Date;
  /** When the journey was planned to ask; it may have been postponed since. */
  dueAt: Date;
  /** Test mode was on when the closing was planned: no other closing gives way to this one. */
  isTest?: boolean;
}

/** How long the note of a waiting closing is kept after the closing was due. */
const waitsMs = 30 * 86_400_000;

/**
 * The data of one person that all sources share: which journey is asking right now, when the person was asked, and by which addresses the person is
 * known. Keys hold a keyed digest of an address, never the address.
 */
export class ContactMemory {
  readonly #redis: RedisClient;
  readonly #seal: Seal;
  readonly #linkMs: number;
  /** Whether any throttle has `prefer: latest`: only then the closings that wait are noted. */
  readonly comparesWaiting: boolean;
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
    await this.#change(key, (last) =>
      last.journey === journey ? beforeThat(last) : withoutEarlier(last, (one) => one.journey === journey),
    );
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
  async takeBack(
    contactKey: string,
    note: Pick<LastAsked, 'journey' | 'at' | 'earlier'>,
    before: LastAsked | undefined,
  ): Promise<void> {
    const isOwn = ({ journey, at }: AskedOnce) => journey === note.journey && at.getTime() === note.at.getTime();
    const wasKnown = ({ journey }: AskedOnce) => note.earlier?.some((one) => one.journey === journey) === true;
    await this.#change(contactKey, (last) => {
      if (!isOwn(last)) return withoutEarlier(last, isOwn);
      const [newest, ...others] = (last.earlier ?? []).filter((one) => !wasKnown(one));
      const earlier = [...others, ...(before ? requestsIn(before) : [])];
      return newest ? { ...newest, earlier } : before;
    });
  }

  /** Notes that the request of this journey was cancelled before it was sent. */
  async noteWithdrawn(contact: Contact, journey: string): Promise<void> {
    await this.#change(contactKey(contact), (last) =>
      last.journey === journey ? { ...last, withdrawn: true } : withoutEarlier(last, (one) => one.journey === journey),
    );
  }

  /** Notes that a closing of this person waits. The closing's journey says how long: the note may be out of date. */
  async noteWaiting(contactKey: string, closing: WaitingClosing): Promise<void> {
    if (!this.comparesWaiting) return;
    const { journey, campaign, closedAt, dueAt, isTest = false } = closing;
    const text = `${campaign} ${closedAt.getTime()} ${dueAt.getTime()}${isTest ? ' test' : ''}`;
    const ms = Math.max(0, dueAt.getTime() - closedAt.getTime()) + waitsMs;
    await this.#ofPerson(noteWaitingScript, contactKey, journey, text, ms);
  }

  /** The closings of this person that are noted as waiting, of all the person's addresses. */
  async waiting(contactKey: string): Promise<WaitingClosing[]> {
    if (!this.comparesWaiting) return [];
    const reply = z.array(z.string()).parse(await this.#ofPerson(waitingScript, contactKey));
    return [...slices(reply, 2)].map(([journey = '', closing = '']) => {
      const [campaign, closedAt, dueAt, test] = closing.split(' ');
      const isTest = test !== undefined && { isTest: true };
      return {
        journey,
        campaign: Number(campaign),
        closedAt: new Date(Number(closedAt)),
        dueAt: new Date(Number(dueAt)),
        ...isTest,
      };
    });
  }

  /** The digests of every address that is linked with this one, and its own. */
  async linkedWith(contactKey: string): Promise<string[]> {
    return z.array(z.string()).parse(await this.#ofPerson(addressesScript, contactKey));
  }

  async noteSettled(contactKey: string, journeys: readonly string[]): Promise<void> {
    if (journeys.length > 0) await this.#ofPerson(settledScript, contactKey, ...journeys);
  }

  async #ofPerson(script: string, contactKey: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const address = this.addressOf(contactKey);
    return await runScript(this.#redis, script, [this.#linksOf(address)], address, ...args);
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
