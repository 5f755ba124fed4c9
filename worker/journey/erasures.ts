import { z } from 'zod';
import { contactKey } from '../../core/contact.ts';
import { slices } from '../../core/spread.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import { forgottenPeople } from './forgotten.ts';

/**
 * An erasure, from the request until the erasure is done. Its subjects say, sealed, whom the erasure is about; this part names nobody.
 */
const Erasure = z.object({
  id: z.string(),
  /** Who asked, in the connector's words. */
  what: z.string(),
  receivedAt: z.coerce.date(),
  /** The connector of the source that the request came through. */
  everybody: z.boolean(),
  /** Attempts so far that did not finish the erasure. */
  tries: z.number().int(),
  /** The steps that the last attempt could not do, and why. */
  held: z.array(z.string()),
  nextAt: z.coerce.date(),
});
export type Erasure = z.output<typeof Erasure>;

/** A person, or a piece of the person's data, that the erasure was requested for or has found. `source`: the name under which its data is stored. */
const Subject = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('contact'),
    key: z.string(),
    /** Every form under which the service may have stored the contact. */
    forms: z.array(z.object({ kind: z.enum(['phone', 'email', 'identifier']), value: z.string() })),
    /** The service has masked all of these forms. */
    done: z.boolean().default(false),
    /** The number of requests that the service has masked. */
    masked: z.number().default(0),
    /** The service had masked the contact before, in whole: nothing was left to mask. */
    wasMasked: z.boolean().optional(),
  }),
  /** The vendor's id of the person. */
  z.object({ kind: z.literal('person'), source: z.string(), id: z.string() }),
  /** A record about the person: its snapshot and its journeys are erased. */
  z.object({ kind: z.literal('record'), source: z.string(), id: z.string() }),
  /** A record of one of the person's journeys: its snapshot is erased. */
  z.object({ kind: z.literal('snapshot'), source: z.string(), id: z.string() }),
  /** Somebody else's record whose snapshot mentions a contact of the person: the mention is removed. */
  z.object({ kind: z.literal('mention'), source: z.string(), id: z.string() }),
  /** A record that closeloop wrote the person's answer on. `left`: what the vendor could not remove. */
  z.object({
    kind: z.literal('written-answer'),
    source: z.string(),
    id: z.string(),
    left: z.array(z.string()).optional(),
  }),
  /** The vendor's id of a record of the person's journeys, if events carry a digest: the snapshot that holds the id is erased before the answer. */
  z.object({ kind: z.literal('vendor-id'), source: z.string(), id: z.string(), vendorId: z.string() }),
]);
export type Subject = z.output<typeof Subject>;
export type SubjectOf<K extends Subject['kind']> = Extract<Subject, { kind: K }>;

const Proof = z.object({
  id: z.string(),
  /** Everything that came in before this instant is erased. */
  at: z.coerce.date(),
  what: z.string(),
  journeys: z.number(),
  contacts: z.number(),
  requestsMasked: z.number(),
  /** How many of the contacts had already been masked completely; left out: none. */
  maskedBefore: z.number().optional(),
  /** Snapshots of other people's records from which a mention of the person was removed. */
  mentions: z.number().default(0),
  /** Answers that had been written on records: removed, or kept by the vendor. */
  writtenAnswers: z.string(),
  /** The data that remain at the service and at vendors, for the answer to the person's request. */
  kept: z.array(z.string()),
  /** Journeys and jobs that could not be read: their data is still stored. */
  unreadable: z.array(z.string()).optional(),
});
export type Proof = z.output<typeof Proof>;

/**
 * KEYS open, due, subjects · ARGV id, erasure, instant, fields and sealed subjects…
 * Stores the erasure together with its subjects: an erasure without subjects would count as done. Existing subjects stay as
 * they are.
 */
const beginScript = `
for i = 4, #ARGV, 2 do redis.call('HSETNX', KEYS[3], ARGV[i], ARGV[i + 1]) end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1]) end
return 1`;

/** Stores nothing for an erasure that a concurrent attempt has finished: what is stored would stay for good. KEYS open, … · ARGV id, … */
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

/** The erasures requested through one source: those still to be done, digests of who was forgotten, and the proofs. */
export class Erasures {
  readonly #redis: RedisClient;
  readonly #seal: Seal;
  readonly #tag: string;
  /** id → Erasure. */
  readonly #open: string;
  /** Ids of erasures by when each is tried again. */
  readonly #due: string;
  readonly #proofs: string;
  readonly forgotten: ReturnType<typeof forgottenPeople>;

  constructor(redis: RedisClient, source: string, seal: Seal) {
    this.#redis = redis;
    this.#seal = seal;
    this.#tag = tagOf(source);
    this.#open = `${this.#tag}:erasures:open`;
    this.#due = `${this.#tag}:erasures:due`;
    this.#proofs = `${this.#tag}:erasures`;
    this.forgotten = forgottenPeople(redis, `${this.#proofs}:forgotten`, seal);
  }

  /** Stores an erasure until it is done. A repeated request before that is the same erasure. */
  async begin(
    asked: { key: string; what: string; receivedAt: Date; everybody: boolean },
    subjects: readonly Subject[],
  ): Promise<string> {
    const { key, what, receivedAt, everybody } = asked;
    const id = this.#seal.digest(`erasure ${this.#tag}${key}`).slice(0, 16);
    const erasure: Erasure = { id, what, receivedAt, everybody, tries: 0, held: [], nextAt: receivedAt };
    const keys = [this.#open, this.#due, this.#subjectsKey(id)];
    const fields = subjects.flatMap((subject) => this.#sealed(id, subject));
    const args = [id, JSON.stringify(erasure), receivedAt.getTime(), ...fields];
    await runScript(this.#redis, beginScript, keys, ...args);
    return id;
  }

  /** Undefined for an erasure that is done. */
  async get(id: string): Promise<Erasure | undefined> {
    const stored = await this.#redis.hget(this.#open, id);
    return stored === null ? undefined : Erasure.parse(JSON.parse(stored));
  }

  /** Erasures that are not done yet, oldest first. */
  async open(): Promise<Erasure[]> {
    const all = (await this.#redis.hvals(this.#open)).map((text) => Erasure.parse(JSON.parse(text)));
    return all.sort((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime());
  }

  /** Ids of the erasures that should have been tried again by then. */
  async overdue(by: Date): Promise<string[]> {
    return await this.#redis.zrangebyscore(this.#due, '-inf', by.getTime());
  }

  async postpone(erasure: Erasure): Promise<void> {
    const { id, nextAt } = erasure;
    const args = [id, JSON.stringify(erasure), nextAt.getTime()];
    await runScript(this.#redis, postponeScript, [this.#open, this.#due], ...args);
  }

  async subjects(id: string): Promise<Subject[]> {
    // An erasure of everybody may have 100,000 subjects. HSCAN may return a field twice while the hash grows.
    const found = new Map<string, Subject>();
    let cursor = '0';
    do {
      const [next, flat] = await this.#redis.hscan(this.#subjectsKey(id), cursor, 'COUNT', 500);
      cursor = next;
      for (const [field = '', text = ''] of slices(flat, 2)) {
        const subject = Subject.parse(JSON.parse(this.#seal.open(text, `erasure ${id} ${field}`)));
        found.set(field, subject);
      }
    } while (cursor !== '0');
    return [...found.values()];
  }

  /** Saves subjects as they are now; does nothing when the erasure is done. */
  async change(id: string, subjects: readonly Subject[]): Promise<void> {
    for (const some of slices(subjects)) {
      const fields = some.flatMap((subject) => this.#sealed(id, subject));
      await runScript(this.#redis, changeScript, [this.#open, this.#subjectsKey(id)], id, ...fields);
    }
  }

  /** Counts journeys for the proof, each of them once. */
  async countJourneys(id: string, refs: readonly string[]): Promise<void> {
    for (const some of slices(refs)) {
      const digests = some.map((ref) => this.#seal.digest(ref));
      await runScript(this.#redis, countScript, [this.#open, this.#journeysKey(id)], id, ...digests);
    }
  }

  async journeys(id: string): Promise<number> {
    return await this.#redis.scard(this.#journeysKey(id));
  }

  /** Marks the erasure as done: the subjects are deleted, the proof stays. A repeated request has one proof. */
  async end(proof: Proof): Promise<Proof> {
    const { id } = proof;
    const before = await this.proof(id);
    const whole = before ? together(before, proof) : proof;
    const batch = this.#redis.multi();
    batch.hset(this.#proofs, id, JSON.stringify(whole));
    batch.hdel(this.#open, id);
    batch.zrem(this.#due, id);
    batch.del(this.#subjectsKey(id), this.#journeysKey(id));
    await batch.exec();
    return whole;
  }

  /** The proof of an erasure that is done. */
  async proof(id: string): Promise<Proof | undefined> {
    const stored = await this.#redis.hget(this.#proofs, id);
    return stored === null ? undefined : Proof.parse(JSON.parse(stored));
  }

  /** How many are done. */
  async count(): Promise<number> {
    return await this.#redis.hlen(this.#proofs);
  }

  /** Proofs, earliest first. */
  async all(): Promise<Proof[]> {
    const proofs = (await this.#redis.hvals(this.#proofs)).map((text) => Proof.parse(JSON.parse(text)));
    return proofs.sort((a, b) => a.at.getTime() - b.at.getTime());
  }

  /** The field of a subject, and the field's value. */
  #sealed(id: string, subject: Subject): [string, string] {
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

/** The digests by which journeys and snapshots find the subject: one for each form of a contact. */
export function keysOf({ key, forms }: SubjectOf<'contact'>): string[] {
  return [...new Set([key, ...forms.map(contactKey)])];
}

/** A key that is equal for equal erasures. */
export function nameOf(subject: Subject): string {
  return subject.kind === 'contact' ? `contact:${subject.key}` : `${subject.kind}:${subject.source}/${subject.id}`;
}

/** Joins the proofs of two attempts, as the later attempt finds nothing that the earlier attempt has erased. */
function together(before: Proof, now: Proof): Proof {
  return {
    ...now,
    journeys: Math.max(before.journeys, now.journeys),
    contacts: Math.max(before.contacts, now.contacts),
    requestsMasked: Math.max(before.requestsMasked, now.requestsMasked),
    mentions: Math.max(before.mentions, now.mentions),
    writtenAnswers: now.writtenAnswers === noWrittenAnswers ? before.writtenAnswers : now.writtenAnswers,
    kept: [...new Set([...before.kept, ...now.kept])],
  };
}

export const noWrittenAnswers = 'none were written';
