import type { Cluster, Redis } from 'ioredis';
import { z } from 'zod';
import type { Ports } from '../../core/ports.ts';
import { Journey, type JourneyState, journeyStates, type TraceLine } from './journey.ts';
import { askedStates } from './transitions.ts';

/** ioredis, one server or a cluster: the same commands. */
export type RedisClient = Redis | Cluster;

/**
 * Every key of a source carries the tag `{cl:<source>}`, which keeps them (and the source's queues) in one slot of a
 * Redis Cluster, so that one script may touch them together.
 */
export function tagOf(source: string): string {
  return `{cl:${source}}`;
}

/**
 * KEYS record · ARGV tag, record id, closing, event key, journey JSON, score, trace lines…
 * Returns the id of the journey of this closing (or of this event), made now or found.
 */
const claimScript = `
local id = redis.call('HGET', KEYS[1], 'event:' .. ARGV[4]) or redis.call('HGET', KEYS[1], 'closing:' .. ARGV[3])
if id then
  redis.call('HSETNX', KEYS[1], 'event:' .. ARGV[4], id)
  return {id, 0}
end
id = ARGV[2] .. '.' .. redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('HINCRBY', KEYS[1], 'alive', 1)
redis.call('HSET', KEYS[1], 'event:' .. ARGV[4], id, 'closing:' .. ARGV[3], id, 'latest', id)
redis.call('HSET', ARGV[1] .. ':journey:' .. id, 'rev', 1, 'data', ARGV[5])
redis.call('ZADD', ARGV[1] .. ':state:received', ARGV[6], id)
for i = 7, #ARGV do redis.call('RPUSH', ARGV[1] .. ':trace:' .. id, ARGV[i]) end
return {id, 1}`;

/**
 * KEYS journey, trace, index of the old state, index of the new one, record, requests
 * ARGV rev, JSON, id, score, request id or '', '1' once asked or '0' when it turned out not to be, trace lines…
 * Returns 1, or 0 when somebody else changed the journey since it was read.
 */
const saveScript = `
if redis.call('HGET', KEYS[1], 'rev') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'rev', ARGV[1] + 1, 'data', ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[3])
redis.call('ZADD', KEYS[4], ARGV[4], ARGV[3])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[6], ARGV[5], ARGV[3]) end
if ARGV[6] == '1' then redis.call('HSET', KEYS[5], 'asked', ARGV[3]) end
if ARGV[6] == '0' and redis.call('HGET', KEYS[5], 'asked') == ARGV[3] then redis.call('HDEL', KEYS[5], 'asked') end
for i = 7, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[i]) end
return 1`;

/**
 * The record's memory lives as long as any of its journeys: without it a number would be given twice, and a customer
 * asked twice. Returns 1, or 0 when the journey is gone, or in another state than when it was read.
 * KEYS journey, trace, index, requests, record · ARGV id, request id or '', state
 */
const forgetScript = `
local data = redis.call('HGET', KEYS[1], 'data')
if not data or cjson.decode(data).state ~= ARGV[3] then return 0 end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[1])
if ARGV[2] ~= '' then redis.call('HDEL', KEYS[4], ARGV[2]) end
if redis.call('HINCRBY', KEYS[5], 'alive', -1) <= 0 then
  redis.call('DEL', KEYS[5])
  return 1
end
local memory = redis.call('HGETALL', KEYS[5])
for i = 1, #memory, 2 do
  if memory[i + 1] == ARGV[1] and string.find(memory[i], ':', 1, true) then redis.call('HDEL', KEYS[5], memory[i]) end
end
return 1`;

/** KEYS journey, trace · ARGV line */
const noteScript = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RPUSH', KEYS[2], ARGV[1]) end return 1`;

/** Waiting journeys are ordered by when they are due, so that an overdue one is found without looking at the others. */
function scoreOf(journey: Journey): number {
  return (journey.state === 'waiting' && journey.dueAt ? journey.dueAt : journey.updatedAt).getTime();
}

const ClaimAnswer = z.tuple([z.string(), z.number()]);
const StoredLine = z.object({ at: z.coerce.date(), text: z.string() });

/** A closing that may become a journey. */
export interface Claim {
  recordId: string;
  /** Names the open→closed transition, see core/connector.ts. */
  closing: string;
  closedAt: Date;
  eventKey: string;
  receivedAt: Date;
}

/** What a caller decides about a journey it was shown; `undefined` leaves it alone. */
export type Decision = { journey: Journey; trace: string[] } | undefined;

/** What the records' hash remembers beyond a journey: which one is the latest, and which one asked the customer. */
export interface RecordMemory {
  latest: string | undefined;
  asked: string | undefined;
}

/**
 * The journeys of one source, in Redis. Every change is one script, so that a journey, its trace and its indexes
 * never disagree, wherever the process is killed.
 */
export class JourneyStore {
  readonly source: string;
  readonly #redis: RedisClient;
  readonly #now: Ports['now'];
  readonly #tag: string;

  constructor(redis: RedisClient, source: string, ports: Pick<Ports, 'now'>) {
    this.source = source;
    this.#redis = redis;
    this.#now = ports.now;
    this.#tag = tagOf(source);
  }

  /** The one journey of this closing: made now (`created`), or found. */
  async claim(claim: Claim, trace: readonly string[]): Promise<{ journey: Journey; created: boolean }> {
    const now = this.#now();
    const data = {
      source: this.source,
      recordId: claim.recordId,
      state: 'received',
      receivedAt: claim.receivedAt,
      updatedAt: now,
      closing: claim.closing,
      closedAt: claim.closedAt,
    };
    const answer = await this.#redis.eval(
      claimScript,
      1,
      this.#recordKey(claim.recordId),
      this.#tag,
      claim.recordId,
      claim.closing,
      claim.eventKey,
      JSON.stringify(data),
      now.getTime(),
      ...trace.map((text) => this.#line(text)),
    );
    const [id, created] = ClaimAnswer.parse(answer);
    const journey = await this.get(id);
    if (!journey) throw new Error(`journey ${this.source}/${id} is claimed but gone: it was removed while it was read`);
    return { journey, created: created === 1 };
  }

  /** The journey that this event started or was counted to, if any: saves reading the record again. */
  async ofEvent(recordId: string, eventKey: string): Promise<Journey | undefined> {
    const id = await this.#redis.hget(this.#recordKey(recordId), `event:${eventKey}`);
    return id === null ? undefined : await this.get(id);
  }

  async memoryOf(recordId: string): Promise<RecordMemory> {
    const [latest, asked] = await this.#redis.hmget(this.#recordKey(recordId), 'latest', 'asked');
    return { latest: latest ?? undefined, asked: asked ?? undefined };
  }

  async get(id: string): Promise<Journey | undefined> {
    return (await this.#read(id))?.journey;
  }

  /**
   * Changes a journey. `decide` is pure and may be called several times: when somebody else changed the journey
   * meanwhile, it is shown the newer one. Returns the journey as it is now, `undefined` when there is none.
   */
  async update(id: string, decide: (journey: Journey) => Decision): Promise<Journey | undefined> {
    for (;;) {
      const found = await this.#read(id);
      if (!found) return undefined;
      const decision = decide(found.journey);
      if (!decision) return found.journey;
      if (await this.#save(found.journey, found.rev, decision)) return decision.journey;
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
   * Removes a journey, its trace and what points at it; the record's memory goes with its last journey.
   * False when the journey has gone into another state since it was read (a late answer came), or is gone.
   */
  async forget(journey: Journey): Promise<boolean> {
    const requestId = journey.requestId ?? '';
    const forgotten = await this.#redis.eval(
      forgetScript,
      5,
      this.#journeyKey(journey.id),
      this.#traceKey(journey.id),
      this.#stateKey(journey.state),
      this.#requestsKey(requestId),
      this.#recordKey(journey.recordId),
      journey.id,
      requestId,
      journey.state,
    );
    return forgotten === 1;
  }

  async #read(id: string): Promise<{ journey: Journey; rev: string } | undefined> {
    const [rev, data] = await this.#redis.hmget(this.#journeyKey(id), 'rev', 'data');
    return rev && data ? { journey: Journey.parse({ ...JSON.parse(data), id }), rev } : undefined;
  }

  async #save(before: Journey, rev: string, { journey, trace }: NonNullable<Decision>): Promise<boolean> {
    const { id, ...data } = journey;
    const requestId = journey.requestId !== before.requestId ? (journey.requestId ?? '') : '';
    const saved = await this.#redis.eval(
      saveScript,
      6,
      this.#journeyKey(id),
      this.#traceKey(id),
      this.#stateKey(before.state),
      this.#stateKey(journey.state),
      this.#recordKey(journey.recordId),
      this.#requestsKey(requestId),
      rev,
      JSON.stringify(data),
      id,
      scoreOf(journey),
      requestId,
      askedStates.includes(journey.state) ? '1' : journey.state === 'waiting' ? '0' : '',
      ...trace.map((text) => this.#line(text)),
    );
    return saved === 1;
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
