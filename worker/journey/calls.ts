import { z } from 'zod';
import { type CalledAs, type CallNotes, callNotes, type HttpCall } from '../../core/connector/calls.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import type { Ports } from '../../core/ports.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import type { Journey } from './journey.ts';

export interface StoredCall {
  at: Date;
  /** The number of the call's name: receiver and operation (`CallNames`). 0: the name is not known. */
  name: number;
  /** The status of the last try's response, or why there is none (`NoStatus`; a newer version may know others). */
  end: number | string;
  /** How long the last try took. */
  ms: number;
  tries: number;
}

/** A stored call with its name in words. */
export type JourneyCall = Omit<StoredCall, 'name'> & CalledAs;

/** The most calls that are stored with a journey: the last ones. */
export const mostCalls = 20;

/** Statuses after which the same call is made again. Any other status, 404 included, answers the call. */
const passing: ReadonlySet<number | string> = new Set([401, 408, 425, 429]);

function isTriedAgain({ end }: StoredCall): boolean {
  return typeof end === 'string' || end >= 500 || passing.has(end);
}

/** The journey's calls, with newer ones: a call that follows a failed call of the same name is a further try of that. */
export function withCalls(stored: readonly StoredCall[], news: readonly StoredCall[]): readonly StoredCall[] {
  if (news.length === 0) return stored;
  const all = [...stored];
  for (const one of news) {
    const at = all.findLastIndex(({ name }) => name === one.name && name !== 0);
    const before = all[at];
    const tries = before && isTriedAgain(before) ? before.tries : 0;
    if (tries > 0) all.splice(at, 1);
    all.push({ ...one, tries: tries + one.tries });
  }
  return all.slice(-mostCalls);
}

interface Made extends JourneyCall {
  recordIds: readonly string[] | undefined;
}

/** Calls that a piece of work has made for a journey and that are not stored with it yet. */
interface News {
  calls: readonly JourneyCall[];
  /** To be called once the calls are stored. */
  stored(): void;
}

const nothing: News = { calls: [], stored: () => undefined };

/**
 * The calls of one piece of work, which is about one record, or one record after the other (`begin`). Whoever stores a journey in this work
 * stores them with it, so that they take no write of their own.
 */
export class WorkCalls implements CallNotes {
  readonly #now: Ports['now'];
  readonly #made: Made[] = [];
  /** How many calls of the work have left `#made`. */
  #gone = 0;
  /** For each journey, how many calls of the work are stored with the journey. */
  readonly #stored = new Map<string, number>();
  #lastStored: { source: string; id: string } | undefined;

  constructor(now: Ports['now']) {
    this.#now = now;
  }

  note({ to, operation, end, begunAt, ms, tries }: HttpCall, recordIds?: readonly string[]): void {
    const at = new Date(this.#now().getTime() - Math.round(performance.now() - begunAt));
    this.#made.push({ at, to, operation, end, ms, tries, recordIds });
    if (this.#made.length > mostCalls) this.#forget(this.#made.length - mostCalls);
  }

  /** Forgets the calls so far: the work goes on with another record. */
  begin(): void {
    this.#forget(this.#made.length);
  }

  #forget(count: number): void {
    this.#gone += count;
    this.#made.splice(0, count);
  }

  newsOf(journey: Pick<Journey, 'id' | 'source' | 'recordId' | 'currentId' | 'requestId'>): News {
    const { id, source, recordId, currentId = recordId, requestId = '' } = journey;
    const ref = `${source}/${id}`;
    const upTo = this.#gone + this.#made.length;
    const from = Math.max(0, (this.#stored.get(ref) ?? 0) - this.#gone);
    const isAbout = ({ recordIds }: Made) =>
      recordIds === undefined || [recordId, currentId, requestId].some((one) => recordIds.includes(one));
    const calls = this.#made.slice(from).filter(isAbout);
    const stored = () => {
      this.#stored.set(ref, upTo);
      this.#lastStored = { source, id };
    };
    return { calls, stored };
  }

  /** The id of the journey that the work is about, or else stored last, if calls are not stored with it yet. */
  behind(source: string, about?: string): string | undefined {
    const last = this.#lastStored?.source === source ? this.#lastStored.id : undefined;
    const id = about ?? last;
    const isBehind = (this.#stored.get(`${source}/${id}`) ?? 0) < this.#gone + this.#made.length;
    return isBehind ? id : undefined;
  }
}

/** The calls of the work under way; undefined where nothing records them. */
export const workCalls = (): WorkCalls | undefined => {
  const notes = callNotes();
  return notes instanceof WorkCalls ? notes : undefined;
};

/** Calls of the work under way that are not stored with this journey yet; none where nobody notes them. */
export const newCallsOf = (journey: Journey): News => workCalls()?.newsOf(journey) ?? nothing;

/** The members of a `JourneyStore` that storing calls needs. */
interface CallStore {
  source: string;
  update(id: string, decide: (now: Journey) => { journey: Journey; trace: string[] } | undefined): Promise<unknown>;
}

/**
 * Stores the calls of the work under way that no change of a journey has stored.
 * @param about the journey that the work is about, where that is known
 */
export async function keepCalls(store: CallStore, about?: string): Promise<void> {
  const id = workCalls()?.behind(store.source, about);
  if (id === undefined) return;
  await store.update(id, (journey) => (newCallsOf(journey).calls.length === 0 ? undefined : { journey, trace: [] }));
}

/** A source makes calls of a few dozen names. A connector that put ids into names would fill Redis: further names have number 0. */
const mostNames = 1_000;
/** How long a process keeps a number, as a Redis that was restored may have given it to another name. Real time. */
const keepMs = 60_000;

/** KEYS numbers by name · ARGV name. Returns its number, which it gets now if it had none. */
const numberScript = `
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known then return tonumber(known) end
local count = redis.call('HLEN', KEYS[1])
if count >= ${mostNames} then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], count + 1)
return count + 1`;

const Name = z.tuple([z.string(), z.string()]);

export type CallNames = ReturnType<typeof callNames>;

/** Numbers the names of a source's calls (receiver and operation). A journey that stored the names would take a third more memory. @param key a hash: numbers by name */
export function callNames(redis: RedisClient, key: string) {
  /** Numbers by operation, by whom is called. */
  let known = new Map<string, Map<string, number>>();
  let knownSince = performance.now();

  async function numberOf({ to, operation }: CalledAs): Promise<number> {
    const number = z.number().parse(await runScript(redis, numberScript, [key], JSON.stringify([to, operation])));
    const operations = known.get(to) ?? new Map<string, number>();
    if (operations.size < mostNames) operations.set(operation, number);
    known.set(to, operations);
    return number;
  }

  return {
    /** At once where this process knows every name, as it nearly always does. */
    numbered(calls: readonly JourneyCall[]): StoredCall[] | Promise<StoredCall[]> {
      if (performance.now() - knownSince > keepMs) {
        known = new Map();
        knownSince = performance.now();
      }
      const numbered: StoredCall[] = [];
      for (const call of calls) {
        const name = known.get(call.to)?.get(call.operation);
        if (name === undefined) return Promise.all(calls.map(async (one) => withNumber(one, await numberOf(one))));
        numbered.push(withNumber(call, name));
      }
      return numbered;
    },

    async named(calls: readonly StoredCall[]): Promise<JourneyCall[]> {
      if (calls.length === 0) return [];
      const numbers = Object.entries(await redis.hgetall(key));
      const names = new Map(numbers.map(([name, number]) => [Number(number), Name.safeParse(jsonBody(name)).data]));
      return calls.map(({ name, ...call }) => {
        const [to = '?', operation = 'a call whose name is not known any more'] = names.get(name) ?? [];
        return { ...call, to, operation };
      });
    },
  };
}

const withNumber = ({ at, end, ms, tries }: JourneyCall, name: number): StoredCall => ({ at, name, end, ms, tries });
