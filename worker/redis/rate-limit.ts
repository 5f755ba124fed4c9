import { z } from 'zod';
import { type RedisClient, runScript } from './client.ts';

/**
 * KEYS time of the next free turn, turns given out · ARGV id, now, ms between two turns, ms to keep. Returns ms until the turn.
 */
const turnScript = `
local turn = tonumber(redis.call('HGET', KEYS[2], ARGV[1]))
local now = tonumber(ARGV[2])
if not turn then
  turn = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0))
  redis.call('SET', KEYS[1], turn + ARGV[3], 'PX', math.ceil(turn + ARGV[3] - now + ARGV[4]))
end
if turn <= now then
  redis.call('HDEL', KEYS[2], ARGV[1])
  return 0
end
redis.call('HSET', KEYS[2], ARGV[1], turn)
redis.call('PEXPIRE', KEYS[2], math.ceil(turn - now + ARGV[4]))
return math.ceil(turn - now)`;

/** How long after its time a turn stays valid. Real time. */
const keepMs = 7 * 86_400_000;

/**
 * Spaces work by `spacingMs` over all processes: each caller gets the next free turn, and calls again when the turn comes.
 * @returns milliseconds until the turn of `id`; 0: the turn is now, and used up
 */
export async function rateLimit(
  redis: RedisClient,
  key: string,
  id: string,
  { spacingMs, now }: { spacingMs: number; now: number },
): Promise<number> {
  const keys = [`${key}:next`, `${key}:turns`];
  return z.number().parse(await runScript(redis, turnScript, keys, id, now, spacingMs, keepMs));
}
