import type { RedisClient } from './client.ts';
import { runScript } from './script.ts';

/**
 * Whoever holds it already gets it again: after a lost connection ioredis sends a command once more that Redis had done.
 * KEYS lock · ARGV token, ms
 */
const takeScript = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const releaseScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** A lock over all processes, held under a token of the holder's own. It ends by itself after `ms`, unless taken again. */
export async function takeLock(redis: RedisClient, key: string, token: string, ms: number): Promise<boolean> {
  return (await runScript(redis, takeScript, [key], token, ms)) === 1;
}

/** Only the holder's own: one that ended and was taken by somebody else stays theirs. */
export async function releaseLock(redis: RedisClient, key: string, token: string): Promise<void> {
  await runScript(redis, releaseScript, [key], token);
}

/**
 * KEYS lock, generation · ARGV token, ms. Never below the server's clock: a counter that Redis lost must not make a newer
 * generation look older than those already stored.
 */
const takeFencedScript = `
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then return tonumber(redis.call('GET', KEYS[2])) end
if holder then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local time = redis.call('TIME')
local generation = math.max(tonumber(redis.call('GET', KEYS[2]) or '0') + 1, time[1] * 1000)
redis.call('SET', KEYS[2], string.format('%.0f', generation))
return generation`;

const renewScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/**
 * As `takeLock`, for work that may stand still past the end of its lock: each holder gets a generation that is higher than
 * those of all holders before, by which what is written refuses the older one. `undefined`: somebody else holds the lock.
 */
export async function takeFencedLock(
  redis: RedisClient,
  key: string,
  token: string,
  ms: number,
): Promise<number | undefined> {
  const generation = Number(await runScript(redis, takeFencedScript, [key, `${key}:generation`], token, ms));
  return generation === 0 ? undefined : generation;
}

/** Only the holder's own: a lock that has ended is not taken again, as another holder may have come and gone. */
export async function renewLock(redis: RedisClient, key: string, token: string, ms: number): Promise<boolean> {
  return (await runScript(redis, renewScript, [key], token, ms)) === 1;
}
