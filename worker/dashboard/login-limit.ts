import { isIPv6 } from 'node:net';
import { z } from 'zod';
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

/** The unit for limits by address: an IPv4 address itself, or the /64 of an IPv6 address, as a single machine may have a whole /64. */
function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [plain = ''] = address.split('%');
  // X-Forwarded-For may contain any text.
  if (!isIPv6(plain)) return address.slice(0, 45);
  const [head = '', tail] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  const all = [...groups, ...Array<string>(missing).fill('0'), ...(tail ?? '').split(':')];
  const first = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(':')}::/64`;
}
