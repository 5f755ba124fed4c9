import { createHash } from 'node:crypto';
import { messageOf } from '../../core/errors.ts';
import type { RedisClient } from './client.ts';

const digests = new Map<string, string>();

/**
 * Runs a Lua script by its digest. Its text is sent only to a server that does not know it: for the first time, after a
 * restart or a failover, or as another node of a cluster. A server that does not know it has done nothing.
 */
export async function runScript(
  redis: RedisClient,
  script: string,
  keys: readonly string[],
  ...args: readonly (string | number | Buffer)[]
): Promise<unknown> {
  try {
    return await redis.evalsha(digestOf(script), keys.length, ...keys, ...args);
  } catch (error) {
    if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
    return await redis.eval(script, keys.length, ...keys, ...args);
  }
}

function digestOf(script: string): string {
  const known = digests.get(script);
  if (known !== undefined) return known;
  const digest = createHash('sha1').update(script).digest('hex');
  digests.set(script, digest);
  return digest;
}
