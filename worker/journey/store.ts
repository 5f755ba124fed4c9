import { z } from 'zod';
import type { Log, Ports } from '../../core/ports.ts';
import { redacted } from '../../core/redaction.ts';
import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';
import type { Seal } from '../redis/seal.ts';
import { Journey, type JourneyState, type TraceLine } from './journey.ts';
import { JourneyKeys } from './journey-keys.ts';
import { JourneyQueries } from './queries.ts';
import { aboutRecord, JourneyReader, type Left } from './reader.ts';
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
interface NewClosing {
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

/**
 * What the records' hash remembers beyond a journey: which one is the latest, and which one asked the customer, be it of a
 * record that was merged into this one.
 */
interface RecordHistory {
  latest: string | undefined;
  asked: string | undefined;
  /** When that one's closing was; undefined where it can't be told, or is another record's. */
  askedClosedAt?: Date | undefined;
}

type RecordHash = { id: string; memory: Record<string, string> };

/**
 * The journeys of one source, in Redis. Every change is one script, so that a journey, its trace and its indexes
 * never disagree, wherever the process is killed.
 */
export class JourneyStore {
  readonly source: string;
  readonly queries: JourneyQueries;
  readonly #redis: RedisClient;
  readonly #now: Ports['now'];
  readonly #seal: Seal;
  readonly #keys: JourneyKeys;
  readonly #reader: JourneyReader;

  constructor(redis: RedisClient, source: string, ports: Pick<Ports, 'now'> & { log?: Log; seal: Seal }) {
    this.source = source;
    this.#redis = redis;
    this.#now = ports.now;
    this.#seal = ports.seal;
    this.#keys = new JourneyKeys(source, ports.seal);
    this.#reader = new JourneyReader(redis, this.#keys, { source, ...ports });
    this.queries = new JourneyQueries(redis, this.#keys, this.#reader);
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
    const answer = await runScript(
      this.#redis,
      getOrCreateScript,
      [this.#keys.record(wanted.recordId)],
      this.#keys.tag,
      wanted.recordId,
      this.#seal.digest(wanted.closing),
      this.#seal.digest(wanted.eventKey),
      this.#sealed(wanted.recordId, data),
      now.getTime(),
      ...trace.map((text) => this.#line(text)),
    ).catch((error: unknown) => {
      throw gatedOr(error);
    });
    const [id, created] = GetOrCreateAnswer.parse(answer);
    if (created === 1) return { journey: this.#reader.remember(Journey.parse({ ...data, id }), '1'), created: true };
    const journey = await this.get(id);
    if (!journey)
      throw new Error(`journey ${this.source}/${id} was made or found, and is gone: it was removed while it was read`);
    return { journey, created: false };
  }

  /** The journey that this event started or was counted to, if any: saves reading the record again. */
  async ofEvent(recordId: string, eventKey: string): Promise<Journey | undefined> {
    const id = await this.#redis.hget(this.#keys.record(recordId), this.#keys.eventField(eventKey));
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
      const journey = await this.#reader.readable(asked);
      // After several merges it may still stand for a journey that turned out to have asked nobody.
      if (!journey || mayHaveAsked(journey)) return { asked, ...(journey && { journey }) };
    }
    for (let n = Number(count); n >= 1 && count !== '1'; n--) {
      const journey = await this.#reader.readable(`${id}.${n}`);
      const isOwn = journey?.requestId !== undefined || journey?.intent !== undefined;
      if (journey && isOwn && mayHaveAsked(journey)) return { asked: journey.id, journey };
    }
    return undefined;
  }

  async get(id: string): Promise<Journey | undefined> {
    return (await this.#reader.read(id))?.journey;
  }

  /**
   * Changes a journey. `decide` is pure and may be called several times: when somebody else changed the journey
   * meanwhile, it is shown the newer one. A request is one journey's of this source: who would take another's is left as it
   * was. Returns the journey as it is now, `undefined` when there is none.
   * @param of a journey that was read or changed before is not read again, unless somebody has changed it since
   * @param pass The collecting pass that decides: once a newer pass has begun, nothing is changed.
   */
  async update(
    of: string | Journey,
    decide: (journey: Journey) => Decision,
    pass?: CollectPass,
  ): Promise<Journey | undefined> {
    if (typeof of !== 'string') {
      const rev = this.#reader.revOf(of);
      const decision = rev === undefined ? undefined : decide(of);
      if (rev !== undefined && decision && (await this.#save(of, rev, decision, pass)) === 1) return decision.journey;
    }
    const id = typeof of === 'string' ? of : of.id;
    for (;;) {
      const found = await this.#reader.read(id);
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
    await runScript(this.#redis, beginPassScript, [this.#keys.pass(campaign)], generation);
  }

  /** The journey of this closing, if there is one: saves reading the record. */
  async ofClosing(recordId: string, closing: string): Promise<Journey | undefined> {
    const id = await this.#redis.hget(this.#keys.record(recordId), this.#keys.closingField(closing));
    return id === null ? undefined : await this.get(id);
  }

  /** The journey that a closing has, or the name that its journey would get. */
  async nameOf(recordId: string, closing: string): Promise<{ id: string; exists: boolean }> {
    const [id, count] = await this.#redis.hmget(this.#keys.record(recordId), this.#keys.closingField(closing), 'count');
    return id ? { id, exists: true } : { id: `${recordId}.${Number(count ?? 0) + 1}`, exists: false };
  }

  /** Every journey of a record, first to last; also those of records that were merged into it. */
  async ofRecord(recordId: string, left?: Left): Promise<Journey[]> {
    const memories = await this.#memoriesOf(recordId);
    const ids = memories.flatMap(({ id, memory }) =>
      Array.from({ length: Number(memory.count ?? 0) }, (_, i) => `${id}.${i + 1}`),
    );
    return await this.#reader.those(ids, left);
  }

  /** `gone` lives on as `remaining`. Tell its journeys as well (`Journey.currentId`). */
  async merge(gone: string, remaining: string): Promise<void> {
    if (gone === remaining) return;
    const keys = [this.#keys.record(gone), this.#keys.record(remaining)];
    await runScript(this.#redis, mergeScript, keys, gone, remaining, unknownMs);
  }

  /** What `gone`, which was merged into `into`, lives on as: that may have been merged before this was told. */
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

  /** Adds a line to the trace without changing anything; to a journey that has been removed, nothing. */
  async note(id: string, text: string): Promise<void> {
    await runScript(this.#redis, noteScript, [this.#keys.journey(id), this.#keys.trace(id)], this.#line(text));
  }

  async trace(id: string): Promise<TraceLine[]> {
    const lines = await this.#redis.lrange(this.#keys.trace(id), 0, -1);
    return lines.map((text) => StoredLine.parse(JSON.parse(text)));
  }

  /**
   * Removes a journey, its trace and what points at it; the record's memory goes with its last journey, and with the last of
   * those that were merged into it.
   * False when the journey has gone into another state since it was read (a late answer came), or is gone.
   */
  async forget(journey: Journey): Promise<boolean> {
    const { id, recordId, state, requestId = '' } = journey;
    const keys = [
      this.#keys.journey(id),
      this.#keys.trace(id),
      this.#keys.state(state),
      this.#keys.requests(requestId),
    ];
    keys.push(this.#keys.record(recordId), ...this.#keys.people(journey));
    const args = [id, requestId, state, this.#keys.tag, recordId];
    const forgotten = await runScript(this.#redis, forgetScript, keys, ...args);
    return forgotten === 1;
  }

  /** What is remembered of a record, and then of those that were merged into it, and into these. */
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

  async #save(
    before: Journey,
    rev: string,
    { journey, trace }: NonNullable<Decision>,
    pass: CollectPass | undefined,
  ): Promise<unknown> {
    const { id, ...data } = journey;
    const requestId = journey.requestId !== before.requestId ? (journey.requestId ?? '') : '';
    const of = this.#keys;
    const people = of.people(journey);
    const keys = [of.journey(id), of.trace(id), of.state(before.state), of.state(journey.state)];
    keys.push(of.record(journey.recordId), of.record(journey.currentId ?? journey.recordId), of.requests(requestId));
    keys.push(...people, ...of.people(before).filter((key) => !people.includes(key)));
    const saved = await runScript(
      this.#redis,
      saveScript,
      keys,
      rev,
      this.#sealed(journey.recordId, data),
      id,
      scoreOf(journey),
      requestId,
      askedMark(before.state, journey),
      people.length,
      pass ? this.#keys.pass(pass.campaign) : '',
      pass?.generation ?? 0,
      journey.state,
      ...trace.map((text) => this.#line(text)),
    );
    if (saved === 1) this.#reader.remember(journey, String(Number(rev) + 1));
    return saved;
  }

  #sealed(recordId: string, data: object): string {
    return this.#seal.seal(JSON.stringify(data), aboutRecord(recordId));
  }

  #line(text: string): string {
    return JSON.stringify({ at: this.#now().toISOString(), text: redacted(text) });
  }
}

/**
 * Once asked, a record stays asked: unless the service didn't take the request, or has cancelled it before sending. One that
 * had failed, and looks for its request anew, leaves alone what another has asked since.
 */
function askedMark(before: JourneyState, { state: now, erasedAt }: Journey): '1' | 'if none' | '0' | '' {
  if (askedStates.includes(now)) return before === 'failed' && now === 'creating' ? 'if none' : '1';
  const isTakenBack = now === 'cancelled' && before === 'asked' && !erasedAt;
  return now === 'waiting' || isTakenBack ? '0' : '';
}
