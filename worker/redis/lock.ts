import { type RedisClient, runScript } from './client.ts';

/**
 * The holder gets the lock again: after a lost connection ioredis repeats a command that Redis may have executed.
 * KEYS lock · ARGV token, ms
 */
const takeScript = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const releaseScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** Takes a lock over all processes, under the holder's token. It expires after `ms` unless it is renewed. */
export async function takeLock(redis: RedisClient, key: string, token: string, ms: number): Promise<boolean> {
  return (await runScript(redis, takeScript, [key], token, ms)) === 1;
}

/** Releases the holder's own lock only: an expired lock may be another holder's by now. */
export async function releaseLock(redis: RedisClient, key: string, token: string): Promise<void> {
  await runScript(redis, releaseScript, [key], token);
}

/**
 * KEYS lock, generation · ARGV token, ms. The generation is never below the server's clock, so that it rises also after Redis lost
 * the counter.
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
 * As `takeLock`, for work that may be suspended past the end of its lock: each holder gets a higher generation than all earlier holders, and
 * writes of a lower generation are refused. Undefined where another holder has the lock.
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

/** Renews the holder's own lock only: an expired lock is not taken again, as another holder may have had it meanwhile. */
export async function renewLock(redis: RedisClient, key: string, token: string, ms: number): Promise<boolean> {
  return (await runScript(redis, renewScript, [key], token, ms)) === 1;
}
