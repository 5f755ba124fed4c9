import { z } from 'zod';
import { contactKey } from '../../core/contact.ts';
import { slices } from '../../core/spread.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { runScript } from '../redis/script.ts';
import type { Seal } from '../redis/seal.ts';
import { gatedOr, SourceNames } from '../redis/source-names.ts';

/**
 * An erasure, from the moment it was asked for until it is done. Whom it is about is in its subjects; what is written here
 * names nobody.
 */
const Erasure = z.object({
  id: z.string(),
  /** Who asked, in the connector's words. */
  what: z.string(),
  receivedAt: z.coerce.date(),
  /** Of the source that it came by. */
  everybody: z.boolean(),
  /** Attempts so far that did not come to its end. */
  tries: z.number().int(),
  /** What the last attempt could not do, and why. */
  held: z.array(z.string()),
  nextAt: z.coerce.date(),
});
export type Erasure = z.output<typeof Erasure>;

/** Somebody, or something of theirs, that an erasure was asked for or has found. */
const Subject = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('contact'),
    key: z.string(),
    /** All that the service may know it by. */
    forms: z.array(z.object({ kind: z.enum(['phone', 'email', 'identifier']), value: z.string() })),
    /** It is masked by all of them. */
    done: z.boolean().default(false),
    /** So many requests were masked by it. */
    masked: z.number().default(0),
  }),
  /** The vendor's id of the person. */
  z.object({ kind: z.literal('person'), source: z.string(), id: z.string() }),
  /** A record that is about them: its snapshot goes, and its journeys. */
  z.object({ kind: z.literal('record'), source: z.string(), id: z.string() }),
  /** A record of one of their journeys: its snapshot goes. */
  z.object({ kind: z.literal('snapshot'), source: z.string(), id: z.string() }),
  /** A record of somebody else whose snapshot mentions a contact of theirs: the mention goes. */
  z.object({ kind: z.literal('mention'), source: z.string(), id: z.string() }),
  /** A record that closeloop has written an answer of theirs on. `left`: the vendor was told to take it off, and keeps these. */
  z.object({ kind: z.literal('copy'), source: z.string(), id: z.string(), left: z.array(z.string()).optional() }),
]);
export type Subject = z.output<typeof Subject>;
export type SubjectOf<K extends Subject['kind']> = Extract<Subject, { kind: K }>;

const Proof = z.object({
  id: z.string(),
  /** Whatever came in before is forgotten. */
  at: z.coerce.date(),
  what: z.string(),
  journeys: z.number(),
  contacts: z.number(),
  requestsMasked: z.number(),
  /** Records of other people, whose snapshots mentioned a contact of theirs and do no more. */
  mentions: z.number().default(0),
  /** What had been written on records: taken off again, or what the vendor keeps. */
  copies: z.string(),
  /** What stays at the service and at vendors, for whoever asked. */
  kept: z.array(z.string()),
  /** Journeys and jobs that could not be read: whatever they hold is still there. */
  unreadable: z.array(z.string()).optional(),
});
export type Proof = z.output<typeof Proof>;

/**
 * KEYS open, due, subjects, gate · ARGV id, erasure, instant, fields and sealed subjects…
 * Whom it is about comes with it: one without would be done at once. Subjects that are there already stay as they are.
 * Error GATED while the source is not to be worked on, as what is stored then could be moved over.
 */
const beginScript = `
if redis.call('EXISTS', KEYS[4]) == 1 then return redis.error_reply('GATED not now') end
for i = 4, #ARGV, 2 do redis.call('HSETNX', KEYS[3], ARGV[i], ARGV[i + 1]) end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1]) end
return 1`;

/** Of two attempts at once one comes to the end first: what the other still stores would stay for good. KEYS open, … · ARGV id, … */
const whileOpen = (then: string) => `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
${then}
return 1`;
/** KEYS open, subjects · ARGV id, fields and sealed subjects… */
const changeScript = whileOpen(`for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end`);
/** KEYS open, journeys · ARGV id, digests… */
const countScript = whileOpen(`for i = 2, #ARGV do redis.call('SADD', KEYS[2], ARGV[i]) end`);
/** KEYS open, due · ARGV id, erasure, instant */
const postponeScript = whileOpen(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])`);

/** Those asked for through one source: what is still to be done, who was forgotten, and what was done, without the people. */
export class Erasures {
  readonly #redis: RedisClient;
  readonly #seal: Seal;
  readonly #source: string;
  readonly #tag: string;
  /** id → Erasure. */
  readonly #open: string;
  /** Ids by when they are tried again. */
  readonly #due: string;
  readonly #proofs: string;

  constructor(redis: RedisClient, source: string, seal: Seal) {
    this.#redis = redis;
    this.#seal = seal;
    this.#source = source;
    this.#tag = tagOf(source);
    this.#open = `${this.#tag}:erasures:open`;
    this.#due = `${this.#tag}:erasures:due`;
    this.#proofs = `${this.#tag}:erasures`;
  }

  /** Kept from here on, until it is done; asked for again before that, it is the same one. */
  async begin(
    asked: { key: string; what: string; receivedAt: Date; everybody: boolean },
    subjects: readonly Subject[],
  ): Promise<string> {
    const { key, what, receivedAt, everybody } = asked;
    const id = this.#seal.digest(`erasure ${this.#tag}${key}`).slice(0, 16);
    const erasure: Erasure = { id, what, receivedAt, everybody, tries: 0, held: [], nextAt: receivedAt };
    const keys = [this.#open, this.#due, this.#subjectsKey(id), `${this.#tag}:gate`];
    const fields = subjects.flatMap((subject) => this.#sealed(id, subject));
    const args = [id, JSON.stringify(erasure), receivedAt.getTime(), ...fields];
    await runScript(this.#redis, beginScript, keys, ...args).catch((error: unknown) => {
      throw gatedOr(error);
    });
    return id;
  }

  /** Undefined: it is done. */
  async get(id: string): Promise<Erasure | undefined> {
    const stored = await this.#redis.hget(this.#open, id);
    return stored === null ? undefined : Erasure.parse(JSON.parse(stored));
  }

  /** Not done yet, the one that came first before the others. */
  async open(): Promise<Erasure[]> {
    const all = (await this.#redis.hvals(this.#open)).map((text) => Erasure.parse(JSON.parse(text)));
    return all.sort((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime());
  }

  /** Ids of those that should have been tried again by then. */
  async overdue(by: Date): Promise<string[]> {
    return await this.#redis.zrangebyscore(this.#due, '-inf', by.getTime());
  }

  async postpone(erasure: Erasure): Promise<void> {
    const { id, nextAt } = erasure;
    await runScript(
      this.#redis,
      postponeScript,
      [this.#open, this.#due],
      id,
      JSON.stringify(erasure),
      nextAt.getTime(),
    );
  }

  async subjects(id: string): Promise<Subject[]> {
    const renamed = await new SourceNames(this.#redis).renamed();
    // Everybody's may be a hundred thousand; while the hash grows, a field may come twice.
    const found = new Map<string, Subject>();
    let cursor = '0';
    do {
      const [next, flat] = await this.#redis.hscan(this.#subjectsKey(id), cursor, 'COUNT', 500);
      cursor = next;
      for (const [field = '', text = ''] of slices(flat, 2)) {
        const subject = Subject.parse(JSON.parse(this.#seal.open(text, `erasure ${id} ${field}`)));
        found.set(field, this.#asNamedNow(subject, renamed));
      }
    } while (cursor !== '0');
    return [...found.values()];
  }

  #asNamedNow(subject: Subject, renamed: ReadonlyMap<string, string>): Subject {
    if (subject.kind === 'contact') return subject;
    const name = subject.source === own ? this.#source : subject.source;
    return { ...subject, source: renamed.get(name) ?? name };
  }

  /** With these as they are now; nothing when it is done. */
  async change(id: string, subjects: readonly Subject[]): Promise<void> {
    for (const some of slices(subjects)) {
      const fields = some.flatMap((subject) => this.#sealed(id, subject));
      await runScript(this.#redis, changeScript, [this.#open, this.#subjectsKey(id)], id, ...fields);
    }
  }

  /** Its journeys, for the proof: each counts once, however often it is found. */
  async countJourneys(id: string, refs: readonly string[]): Promise<void> {
    for (const some of slices(refs)) {
      const digests = some.map((ref) => this.#seal.digest(ref));
      await runScript(this.#redis, countScript, [this.#open, this.#journeysKey(id)], id, ...digests);
    }
  }

  async journeys(id: string): Promise<number> {
    return await this.#redis.scard(this.#journeysKey(id));
  }

  /** It is done: whom it was about goes, and the proof stays. One that was asked for twice has one proof. */
  async end(proof: Proof): Promise<Proof> {
    const { id } = proof;
    const stored = await this.#redis.hget(this.#proofs, id);
    const before = stored === null ? undefined : Proof.parse(JSON.parse(stored));
    const whole = before ? together(before, proof) : proof;
    const batch = this.#redis.multi();
    batch.hset(this.#proofs, id, JSON.stringify(whole));
    batch.hdel(this.#open, id);
    batch.zrem(this.#due, id);
    batch.del(this.#subjectsKey(id), this.#journeysKey(id));
    await batch.exec();
    return whole;
  }

  /** Proofs, earliest first. */
  async all(): Promise<Proof[]> {
    const proofs = (await this.#redis.hvals(this.#proofs)).map((text) => Proof.parse(JSON.parse(text)));
    return proofs.sort((a, b) => a.at.getTime() - b.at.getTime());
  }

  /** These were forgotten, as of `at`: what came in before must not be stored again. Holds digests only, for `keepMs`. */
  async noteForgotten(who: readonly string[], at: Date, keepMs: number): Promise<void> {
    if (who.length === 0) return;
    const key = `${this.#proofs}:forgotten`;
    for (const some of slices(who)) {
      await this.#redis.zadd(key, 'GT', ...some.flatMap((one) => [at.getTime(), this.#seal.digest(one)]));
    }
    await this.#redis.zremrangebyscore(key, '-inf', at.getTime() - keepMs);
    // Also where nobody is forgotten any more.
    await this.#redis.pexpire(key, keepMs);
  }

  /** When any of these was forgotten last. */
  async lastOf(who: readonly string[]): Promise<Date | undefined> {
    const times = (await this.#timesOf(who)).filter((at) => at !== undefined);
    return times.length === 0 ? undefined : new Date(times.reduce((last, at) => Math.max(last, at)));
  }

  /** Which of these were forgotten at `at` or since. */
  async forgottenSince(at: Date, who: readonly string[]): Promise<string[]> {
    const times = await this.#timesOf(who);
    return who.filter((_, i) => (times[i] ?? Number.NEGATIVE_INFINITY) >= at.getTime());
  }

  async #timesOf(who: readonly string[]): Promise<(number | undefined)[]> {
    const times: (number | undefined)[] = [];
    for (const some of slices(who)) {
      const digests = some.map((one) => this.#seal.digest(one));
      const found = await this.#redis.zmscore(`${this.#proofs}:forgotten`, ...digests);
      for (const at of found) times.push(at === null ? undefined : Number(at));
    }
    return times;
  }

  /** Its field and what that holds. */
  #sealed(id: string, one: Subject): [string, string] {
    const subject = one.kind !== 'contact' && one.source === this.#source ? { ...one, source: own } : one;
    const field = this.#seal.digest(nameOf(subject));
    return [field, this.#seal.seal(JSON.stringify(subject), `erasure ${id} ${field}`)];
  }

  #subjectsKey(id: string): string {
    return `${this.#tag}:erasure:${id}`;
  }
  #journeysKey(id: string): string {
    return `${this.#tag}:erasure:${id}:journeys`;
  }
}

/** By which journeys and snapshots know it: each of its forms by its own. */
export function keysOf({ key, forms }: SubjectOf<'contact'>): string[] {
  return [...new Set([key, ...forms.map(contactKey)])];
}

/** The same for two that are the same. */
export function nameOf(subject: Subject): string {
  return subject.kind === 'contact' ? `contact:${subject.key}` : `${subject.kind}:${subject.source}/${subject.id}`;
}

/** The later one finds nothing of what the earlier one has forgotten. */
function together(before: Proof, now: Proof): Proof {
  return {
    ...now,
    journeys: Math.max(before.journeys, now.journeys),
    contacts: Math.max(before.contacts, now.contacts),
    requestsMasked: Math.max(before.requestsMasked, now.requestsMasked),
    mentions: Math.max(before.mentions, now.mentions),
    copies: now.copies === noCopies ? before.copies : now.copies,
    kept: [...new Set([...before.kept, ...now.kept])],
  };
}

/** Stands for the source that the erasure was asked for through: that may get another name. */
const own = '';

export const noCopies = 'none were written';
