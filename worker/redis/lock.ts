import type { RedisClient } from '../journey/store.ts';

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
  return (await redis.eval(takeScript, 1, key, token, ms)) === 1;
}

/** Only the holder's own: one that ended and was taken by somebody else stays theirs. */
export async function releaseLock(redis: RedisClient, key: string, token: string): Promise<void> {
  await redis.eval(releaseScript, 1, key, token);
}
