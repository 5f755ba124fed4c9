import { z } from 'zod';
import { type Contact, contactKey } from '../../core/contact.ts';
import type { Log, Ports } from '../../core/ports.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { type Seal, SealError } from '../redis/seal.ts';
import { Journey, type JourneyState, journeyStates, type TraceLine } from './journey.ts';
import {
  beginPassScript,
  forgetScript,
  gatedOr,
  getOrCreateScript,
  mergeScript,
  noteScript,
  saveScript,
} from './scripts.ts';
import { askedStates, type Decision, mayHaveAsked } from './transitions.ts';

/** Waiting journeys are ordered by when they are due, so that an overdue one is found without looking at the others. */
function scoreOf(journey: Journey): number {
  return (journey.state === 'waiting' && journey.dueAt ? journey.dueAt : journey.updatedAt).getTime();
}

/** How long a merge is remembered of a record that nothing else is known of: merges may be told in any order. */
const unknownMs = 30 * 86_400_000;

const GetOrCreateAnswer = z.tuple([z.string(), z.number()]);
const StoredLine = z.object({ at: z.coerce.date(), text: z.string() });

/** A closing that may become a journey. */
export interface NewClosing {
  recordId: string;
  /** Names the open→closed transition, see core/connector/contract.ts. */
  closing: string;
  closedAt: Date;
  eventKey: string;
  receivedAt: Date;
}

/** A collecting pass over one campaign. Of two, the one with the higher generation has read the newer export. */
export interface CollectPass {
  campaign: number;
  generation: number;
}

/** Another version wrote this journey, or its entry is broken. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof z.ZodError || error instanceof SyntaxError || error instanceof SealError;
}

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

/** Takes the ids of journeys that can't be read. Left out: the log. */
type Left = (id: string) => void;
type RecordHash = { id: string; memory: Record<string, string> };

/**
 * The journeys of one source, in Redis. Every change is one script, so that a journey, its trace and its indexes
 * never disagree, wherever the process is killed.
 */
export class JourneyStore {
  readonly source: string;
  readonly #redis: RedisClient;
  readonly #now: Ports['now'];
  readonly #tag: string;
  readonly #seal: Seal;
  readonly #tellLeft: Left;

  constructor(redis: RedisClient, source: string, ports: Pick<Ports, 'now'> & { log?: Log; seal: Seal }) {
    this.source = source;
    this.#redis = redis;
    this.#now = ports.now;
    this.#seal = ports.seal;
    this.#tag = tagOf(source);
    this.#tellLeft = (id) =>
      ports.log?.warn({ journey: `${source}/${id}` }, 'a journey that can not be read is left out');
  }

  /** The one journey of this closing: made now (`created`), or found. */
  async getOrCreate(wanted: NewClosing, trace: readonly string[]): Promise<{ journey: Journey; created: boolean }> {
    const now = this.#now();
    const data = {
      source: this.source,
      recordId: wanted.recordId,
      state: 'received',
      receivedAt: wanted.receivedAt,
      updatedAt: now,
      closing: wanted.closing,
      closedAt: wanted.closedAt,
    };
    const answering = this.#redis.eval(
      getOrCreateScript,
      1,
      this.#recordKey(wanted.recordId),
      this.#tag,
      wanted.recordId,
      this.#seal.digest(wanted.closing),
      this.#seal.digest(wanted.eventKey),
      this.#sealed(wanted.recordId, data),
      now.getTime(),
      ...trace.map((text) => this.#line(text)),
    );
    const answer = await answering.catch((error: unknown) => {
      throw gatedOr(error);
    });
    const [id, created] = GetOrCreateAnswer.parse(answer);
    const journey = await this.get(id);
    if (!journey)
      throw new Error(`journey ${this.source}/${id} was made or found, and is gone: it was removed while it was read`);
    return { journey, created: created === 1 };
  }

  /** The journey that this event started or was counted to, if any: saves reading the record again. */
  async ofEvent(recordId: string, eventKey: string): Promise<Journey | undefined> {
    const id = await this.#redis.hget(this.#recordKey(recordId), this.#eventField(eventKey));
    return id === null ? undefined : await this.get(id);
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
      const journey = await this.#readable(asked, this.#tellLeft);
      // After several merges it may still stand for a journey that turned out to have asked nobody.
      if (!journey || mayHaveAsked(journey)) return { asked, ...(journey && { journey }) };
    }
    for (let n = Number(count); n >= 1 && count !== '1'; n--) {
      const journey = await this.#readable(`${id}.${n}`, this.#tellLeft);
      const isOwn = journey?.requestId !== undefined || journey?.intent !== undefined;
      if (journey && isOwn && mayHaveAsked(journey)) return { asked: journey.id, journey };
    }
    return undefined;
  }

  async get(id: string): Promise<Journey | undefined> {
    return (await this.#read(id))?.journey;
  }

  /**
   * Changes a journey. `decide` is pure and may be called several times: when somebody else changed the journey
   * meanwhile, it is shown the newer one. A request is one journey's of this source: who would take another's is left as it
   * was. Returns the journey as it is now, `undefined` when there is none.
   * @param pass The collecting pass that decides: once a newer pass has begun, nothing is changed.
   */
  async update(id: string, decide: (journey: Journey) => Decision, pass?: CollectPass): Promise<Journey | undefined> {
    for (;;) {
      const found = await this.#read(id);
      if (!found) return undefined;
      const decision = decide(found.journey);
      if (!decision) return found.journey;
      const saved = await this.#save(found.journey, found.rev, decision, pass);
      if (saved === 1) return decision.journey;
      if (saved === -1) return found.journey;
    }
  }

  /** From now on no older pass over this campaign changes a journey of this source. */
  async beginPass({ campaign, generation }: CollectPass): Promise<void> {
    await this.#redis.eval(beginPassScript, 1, this.#passKey(campaign), generation);
  }

  /** The journey of this closing, if there is one: saves reading the record. */
  async ofClosing(recordId: string, closing: string): Promise<Journey | undefined> {
    const id = await this.#redis.hget(this.#recordKey(recordId), this.#closingField(closing));
    return id === null ? undefined : await this.get(id);
  }

  /** The journey that a closing has, or the name that its journey would get. */
  async nameOf(recordId: string, closing: string): Promise<{ id: string; exists: boolean }> {
    const [id, count] = await this.#redis.hmget(this.#recordKey(recordId), this.#closingField(closing), 'count');
    return id ? { id, exists: true } : { id: `${recordId}.${Number(count ?? 0) + 1}`, exists: false };
  }

  /** Every journey of a record, first to last; also those of records that were merged into it. */
  async ofRecord(recordId: string, left = this.#tellLeft): Promise<Journey[]> {
    const memories = await this.#memoriesOf(recordId);
    const ids = memories.flatMap(({ id, memory }) =>
      Array.from({ length: Number(memory.count ?? 0) }, (_, i) => `${id}.${i + 1}`),
    );
    return await this.#those(ids, left);
  }

  /** `gone` lives on as `remaining`. Tell its journeys as well (`Journey.currentId`). */
  async merge(gone: string, remaining: string): Promise<void> {
    if (gone === remaining) return;
    const keys = [this.#recordKey(gone), this.#recordKey(remaining)];
    await this.#redis.eval(mergeScript, 2, ...keys, gone, remaining, unknownMs);
  }

  /** What `gone`, which was merged into `into`, lives on as: that may have been merged before this was told. */
  async remainingOf(gone: string, into: string): Promise<string> {
    const seen = new Set([gone]);
    let remaining = into;
    for (;;) {
      seen.add(remaining);
      const next = await this.#redis.hget(this.#recordKey(remaining), 'into');
      if (next === null || seen.has(next)) return remaining;
      remaining = next;
    }
  }

  /** The journeys about a person: by the vendor's id of them, or by their contact. */
  async of(who: { personId: string } | { contact: Contact }, left = this.#tellLeft): Promise<Journey[]> {
    const key = this.#whoKey('personId' in who ? personKey(who.personId) : contactKey(who.contact));
    return await this.#those(await this.#redis.smembers(key), left);
  }

  /** Every journey, in no order; those that are made or moved meanwhile may be left out or come twice. */
  async *all(left = this.#tellLeft): AsyncGenerator<Journey> {
    for (const state of journeyStates) {
      let cursor = '0';
      do {
        const [next, flat] = await this.#redis.zscan(this.#stateKey(state), cursor, 'COUNT', 500);
        cursor = next;
        for (let i = 0; i < flat.length; i += 2) {
          const journey = await this.#readable(flat[i] ?? '', left);
          if (journey) yield journey;
        }
      } while (cursor !== '0');
    }
  }

  /** Adds a line to the trace without changing anything; to a journey that has been removed, nothing. */
  async note(id: string, text: string): Promise<void> {
    await this.#redis.eval(noteScript, 2, this.#journeyKey(id), this.#traceKey(id), this.#line(text));
  }

  async trace(id: string): Promise<TraceLine[]> {
    const lines = await this.#redis.lrange(this.#traceKey(id), 0, -1);
    return lines.map((text) => StoredLine.parse(JSON.parse(text)));
  }

  /** Ids in one state, by last change (waiting: by when they are due), earliest first. */
  async idsIn(state: JourneyState, options: { before?: Date; limit?: number } = {}): Promise<string[]> {
    const until = options.before ? `${options.before.getTime()}` : '+inf';
    return await this.#redis.zrangebyscore(this.#stateKey(state), '-inf', until, 'LIMIT', 0, options.limit ?? 1000);
  }

  /**
   * Ids in one state, by last change (waiting: by when they are due), earliest first, page by page: also past those that stay
   * where they are. Those that move meanwhile come at most once more.
   */
  async *pagesIn(state: JourneyState, before: Date, size: number): AsyncGenerator<string[]> {
    let from = '-inf';
    // Thousands may be due in the same millisecond: within one, those that were given already are left out.
    let given: string[] = [];
    for (;;) {
      const limit = size + given.length;
      const until = `${before.getTime()}`;
      const flat = await this.#redis.zrangebyscore(this.#stateKey(state), from, until, 'WITHSCORES', 'LIMIT', 0, limit);
      const rows = flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, score: flat[i + 1] ?? '' }] : []));
      const ids = rows.map(({ id }) => id).filter((id) => !given.includes(id));
      const last = rows.at(-1)?.score ?? from;
      if (ids.length > 0) yield ids;
      if (rows.length < limit) return;
      const ofLast = rows.flatMap(({ id, score }) => (score === last ? [id] : []));
      given = last === from ? [...new Set([...given, ...ofLast])] : ofLast;
      from = last;
    }
  }

  /** Journeys of these states, last changed first (waiting: last due first), a page at a time. */
  async *newest(states: readonly JourneyState[]): AsyncGenerator<Journey> {
    const seen = new Set<string>();
    for (let limit = 200; ; limit *= 4) {
      const ids = await this.latestIds(states, limit);
      for (const { id } of ids) {
        if (seen.has(id)) continue;
        seen.add(id);
        const journey = await this.#readable(id, this.#tellLeft);
        if (journey) yield journey;
      }
      if (ids.length < limit) return;
    }
  }

  /** Ids of all states, last changed first. */
  async latestIds(states: readonly JourneyState[], limit: number): Promise<{ id: string; at: number }[]> {
    const perState = await Promise.all(
      states.map((state) => this.#redis.zrevrange(this.#stateKey(state), 0, limit - 1, 'WITHSCORES')),
    );
    const all = perState.flatMap((flat) =>
      flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, at: Number(flat[i + 1]) }] : [])),
    );
    return all.sort((a, b) => b.at - a.at).slice(0, limit);
  }

  async counts(): Promise<Record<JourneyState, number>> {
    const entries = await Promise.all(
      journeyStates.map(async (state) => [state, await this.#redis.zcard(this.#stateKey(state))] as const),
    );
    return Object.fromEntries(entries) as Record<JourneyState, number>;
  }

  /** For each feedback request: the journey that created it, `undefined` for one that isn't this source's. */
  async idsOfRequests(requestIds: readonly string[]): Promise<(string | undefined)[]> {
    if (requestIds.length === 0) return [];
    const pipeline = this.#redis.pipeline();
    for (const id of requestIds) pipeline.hget(this.#requestsKey(id), id);
    const answers = (await pipeline.exec()) ?? [];
    return answers.map(([error, id]) => {
      if (error) throw error;
      return typeof id === 'string' ? id : undefined;
    });
  }

  /**
   * Removes a journey, its trace and what points at it; the record's memory goes with its last journey, and with the last of
   * those that were merged into it.
   * False when the journey has gone into another state since it was read (a late answer came), or is gone.
   */
  async forget(journey: Journey): Promise<boolean> {
    const requestId = journey.requestId ?? '';
    const people = this.#whoKeys(journey);
    const forgotten = await this.#redis.eval(
      forgetScript,
      5 + people.length,
      this.#journeyKey(journey.id),
      this.#traceKey(journey.id),
      this.#stateKey(journey.state),
      this.#requestsKey(requestId),
      this.#recordKey(journey.recordId),
      ...people,
      journey.id,
      requestId,
      journey.state,
      this.#tag,
      journey.recordId,
    );
    return forgotten === 1;
  }

  async #read(id: string): Promise<{ journey: Journey; rev: string } | undefined> {
    const [rev, data] = await this.#redis.hmget(this.#journeyKey(id), 'rev', 'data');
    if (!rev || !data) return undefined;
    const opened = this.#seal.open(data, aboutRecord(id.slice(0, id.lastIndexOf('.'))));
    return { journey: Journey.parse({ ...JSON.parse(opened), id }), rev };
  }

  async #those(ids: readonly string[], left: Left): Promise<Journey[]> {
    const journeys = await Promise.all(ids.map((id) => this.#readable(id, left)));
    return journeys.filter((one) => one !== undefined);
  }

  /** Among many, one that can't be read must not hide the others. */
  async #readable(id: string, left: Left): Promise<Journey | undefined> {
    try {
      return await this.get(id);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      left(id);
      return undefined;
    }
  }

  /** What is remembered of a record, and then of those that were merged into it, and into these. */
  async #memoriesOf(recordId: string, seen = new Set<string>()): Promise<RecordHash[]> {
    if (seen.has(recordId)) return [];
    seen.add(recordId);
    const memory = await this.#redis.hgetall(this.#recordKey(recordId));
    const found: RecordHash[] = [{ id: recordId, memory }];
    for (const field of Object.keys(memory)) {
      if (field.startsWith('from:')) found.push(...(await this.#memoriesOf(field.slice(5), seen)));
    }
    return found;
  }

  async #save(
    before: Journey,
    rev: string,
    { journey, trace }: NonNullable<Decision>,
    pass: CollectPass | undefined,
  ): Promise<unknown> {
    const { id, ...data } = journey;
    const requestId = journey.requestId !== before.requestId ? (journey.requestId ?? '') : '';
    const people = this.#whoKeys(journey);
    const gone = this.#whoKeys(before).filter((key) => !people.includes(key));
    return await this.#redis.eval(
      saveScript,
      7 + people.length + gone.length,
      this.#journeyKey(id),
      this.#traceKey(id),
      this.#stateKey(before.state),
      this.#stateKey(journey.state),
      this.#recordKey(journey.recordId),
      this.#recordKey(journey.currentId ?? journey.recordId),
      this.#requestsKey(requestId),
      ...people,
      ...gone,
      rev,
      this.#sealed(journey.recordId, data),
      id,
      scoreOf(journey),
      requestId,
      askedMark(before.state, journey),
      people.length,
      pass ? this.#passKey(pass.campaign) : '',
      pass?.generation ?? 0,
      journey.state,
      ...trace.map((text) => this.#line(text)),
    );
  }

  /** Sets of journey ids, under a keyed digest of the person: the index must not tell what an erasure takes out of journeys. */
  #whoKeys({ personId, contact }: Journey): string[] {
    const who = [...(personId === undefined ? [] : [personKey(personId)]), ...(contact ? [contactKey(contact)] : [])];
    return who.map((one) => this.#whoKey(one));
  }
  #whoKey(who: string): string {
    return `${this.#tag}:who:${this.#seal.digest(who)}`;
  }
  /** About its record, as its own number is given only when it is stored. */
  #sealed(recordId: string, data: object): string {
    return this.#seal.seal(JSON.stringify(data), aboutRecord(recordId));
  }
  /** Keys and closings are made of the vendor's words, which may name a person. */
  #eventField(eventKey: string): string {
    return `event:${this.#seal.digest(eventKey)}`;
  }
  #closingField(closing: string): string {
    return `closing:${this.#seal.digest(closing)}`;
  }
  #line(text: string): string {
    return JSON.stringify({ at: this.#now().toISOString(), text });
  }
  #journeyKey(id: string): string {
    return `${this.#tag}:journey:${id}`;
  }
  #traceKey(id: string): string {
    return `${this.#tag}:trace:${id}`;
  }
  #stateKey(state: JourneyState): string {
    return `${this.#tag}:state:${state}`;
  }
  #passKey(campaign: number): string {
    return `${this.#tag}:pass:${campaign}`;
  }
  #recordKey(recordId: string): string {
    return `${this.#tag}:record:${recordId}`;
  }
  /** 256 buckets keep the hashes small enough for Redis to pack them. */
  #requestsKey(requestId: string): string {
    let sum = 0;
    for (let i = 0; i < requestId.length; i++) sum = (sum * 31 + requestId.charCodeAt(i)) % 256;
    return `${this.#tag}:requests:${sum}`;
  }
}

const aboutRecord = (recordId: string): string => `journey of ${recordId}`;
const personKey = (personId: string): string => `person:${personId}`;

/**
 * Once asked, a record stays asked: unless the service didn't take the request, or has cancelled it before sending. One that
 * had failed, and looks for its request anew, leaves alone what another has asked since.
 */
function askedMark(before: JourneyState, { state: now, erasedAt }: Journey): '1' | 'if none' | '0' | '' {
  if (askedStates.includes(now)) return before === 'failed' && now === 'creating' ? 'if none' : '1';
  const isTakenBack = now === 'cancelled' && before === 'asked' && !erasedAt;
  return now === 'waiting' || isTakenBack ? '0' : '';
}
