import { z } from 'zod';
import type { CalledAs } from '../../core/connector/calls.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import type { JourneyCall, StoredCall } from './calls.ts';

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

/** Numbers the names of a source's calls (receiver and operation). A journey that stored the names would take a third more memory. */
export class CallNames {
  readonly #redis: RedisClient;
  readonly #key: string;
  /** Numbers by operation, by whom is called. */
  #known = new Map<string, Map<string, number>>();
  #knownSince = performance.now();

  /** @param key a hash: numbers by name */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** At once where this process knows every name, as it nearly always does. */
  numbered(calls: readonly JourneyCall[]): StoredCall[] | Promise<StoredCall[]> {
    if (performance.now() - this.#knownSince > keepMs) {
      this.#known = new Map();
      this.#knownSince = performance.now();
    }
    const numbered: StoredCall[] = [];
    for (const call of calls) {
      const name = this.#known.get(call.to)?.get(call.operation);
      if (name === undefined) return this.#learnt(calls);
      numbered.push(withNumber(call, name));
    }
    return numbered;
  }

  async named(calls: readonly StoredCall[]): Promise<JourneyCall[]> {
    if (calls.length === 0) return [];
    const numbers = Object.entries(await this.#redis.hgetall(this.#key));
    const names = new Map(numbers.map(([name, number]) => [Number(number), Name.safeParse(jsonBody(name)).data]));
    return calls.map(({ name, ...call }) => {
      const [to = '?', operation = 'a call whose name is not known any more'] = names.get(name) ?? [];
      return { ...call, to, operation };
    });
  }

  async #learnt(calls: readonly JourneyCall[]): Promise<StoredCall[]> {
    return await Promise.all(calls.map(async (call) => withNumber(call, await this.#numberOf(call))));
  }

  async #numberOf({ to, operation }: CalledAs): Promise<number> {
    const name = JSON.stringify([to, operation]);
    const number = z.number().parse(await runScript(this.#redis, numberScript, [this.#key], name));
    const operations = this.#known.get(to) ?? new Map<string, number>();
    if (operations.size < mostNames) operations.set(operation, number);
    this.#known.set(to, operations);
    return number;
  }
}

const withNumber = ({ at, end, ms, tries }: JourneyCall, name: number): StoredCall => ({ at, name, end, ms, tries });
