import { z } from 'zod';
import { addressGroup } from '../../core/address-group.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';

/** The failed attempts within `periodMs` that are allowed for one name, and from one address. */
const limits = { byName: 10, byAddress: 30, periodMs: 15 * 60_000 };

/**
 * Counts an attempt before the password is checked. Returns the ms to wait; 0: the attempt is allowed. KEYS by name, by address · ARGV limit
 * of each, ms
 */
const countScript = `
local waits = 0
for i, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or 0) >= tonumber(ARGV[i]) then waits = math.max(waits, redis.call('PTTL', key), 1) end
end
if waits > 0 then return waits end
for _, key in ipairs(KEYS) do
  if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[3]) end
end
return 0`;

/** Takes one attempt off the count of each of KEYS. */
const takeBackScript = `
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or 0) > 0 then redis.call('DECR', key) end
end
return 0`;

export interface Attempt {
  /** The name as typed. It may be anything, even a password in the wrong field. */
  name: string;
  address: string;
}

/** Limits how often a person may try to log in. All processes share the counts. */
export class LoginLimit {
  readonly #redis: RedisClient;
  readonly #seal: Pick<Seal, 'digest'>;

  constructor({ redis, seal }: { redis: RedisClient; seal: Pick<Seal, 'digest'> }) {
    this.#redis = redis;
    this.#seal = seal;
  }

  /** Counts an attempt. @returns ms until the next attempt is allowed; 0: this attempt is allowed */
  async count(attempt: Attempt): Promise<number> {
    const { byName, byAddress, periodMs } = limits;
    return z
      .number()
      .parse(await runScript(this.#redis, countScript, this.#keysOf(attempt), byName, byAddress, periodMs));
  }

  /** After a right password: forgets the attempts by this name, and one attempt from this address. */
  async wasRight(attempt: Attempt): Promise<void> {
    const [byName, byAddress] = this.#keysOf(attempt);
    await this.#redis.del(byName);
    await runScript(this.#redis, takeBackScript, [byAddress]);
  }

  /** Takes back a counted attempt whose password could not be checked. */
  async takeBack(attempt: Attempt): Promise<void> {
    await runScript(this.#redis, takeBackScript, this.#keysOf(attempt));
  }

  #keysOf({ name, address }: Attempt): [byName: string, byAddress: string] {
    const keyOf = (what: string) => `${globalTag}:logins:${this.#seal.digest(`login ${what}`)}`;
    return [keyOf(`by ${name}`), keyOf(`from ${addressGroup(address)}`)];
  }
}
