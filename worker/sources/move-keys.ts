import { createHash } from 'node:crypto';
import { Cluster } from 'ioredis';
import pLimit from 'p-limit';
import { z } from 'zod';
import { slices } from '../../core/spread.ts';
import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';

/** Removes a key unless it was changed since it was copied; then it is copied again. KEYS key · ARGV SHA-1 of its dump */
const removeScript = `
local dump = redis.call('DUMP', KEYS[1])
if dump and redis.sha1hex(dump) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1`;

const atOnce = 50;

/** Every key with this prefix, on every node, unordered; keys added or removed meanwhile may be missing or come twice. */
export async function* keysOf(redis: RedisClient, beginning: string): AsyncGenerator<string> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis];
  for (const server of servers) {
    let cursor = '0';
    do {
      const [next, keys] = await server.scan(cursor, 'MATCH', `${beginning}*`, 'COUNT', 1_000);
      cursor = next;
      yield* keys;
    } while (cursor !== '0');
  }
}

interface MoveOptions {
  /** The new name of a key; undefined for a key that stays. */
  target: (key: string) => string | undefined;
  /** Whether the target key existed before the move: then the moved data is merged into it. */
  wasThere: (target: string) => boolean | Promise<boolean>;
  moved: (count: number) => void;
}

/**
 * Renames keys across the nodes of a cluster: copies each key, then removes it unless it was changed meanwhile. Repeats until nothing
 * is left. May be interrupted anywhere and started again.
 */
export async function moveKeys(redis: RedisClient, beginning: string, options: MoveOptions): Promise<number> {
  const limited = pLimit(atOnce);
  let count = 0;
  for (;;) {
    const found: Promise<boolean>[] = [];
    let met = 0;
    const settle = async () => {
      const moved = await Promise.all(found.splice(0));
      count += moved.filter(Boolean).length;
      options.moved(count);
    };
    for await (const key of keysOf(redis, beginning)) {
      const target = options.target(key);
      if (target === undefined) continue;
      met++;
      found.push(limited(() => moveKey(redis, key, target, options)));
      if (found.length >= 20 * atOnce) await settle();
    }
    await settle();
    if (met === 0) return count;
  }
}

async function moveKey(redis: RedisClient, key: string, target: string, options: MoveOptions): Promise<boolean> {
  const dump = await redis.dumpBuffer(key);
  if (dump === null) return false;
  if (await options.wasThere(target)) await addTo(redis, key, target);
  else await redis.restore(target, Math.max(0, await redis.pttl(key)), dump, 'REPLACE');
  const sum = createHash('sha1').update(dump).digest('hex');
  return z.number().parse(await runScript(redis, removeScript, [key], sum)) === 1;
}

/** Merges the old key into the new one; where both have a value the old key's wins. */
async function addTo(redis: RedisClient, key: string, target: string): Promise<void> {
  const type = await redis.type(key);
  if (type === 'hash') {
    const fields = await redis.hgetall(key);
    if (Object.keys(fields).length > 0) await redis.hset(target, fields);
  } else if (type === 'set') {
    const members = await redis.smembers(key);
    if (members.length > 0) await redis.sadd(target, ...members);
  } else if (type === 'zset') {
    const members = await redis.zrange(key, '0', '-1', 'WITHSCORES');
    for (const some of slices(members, 1_000)) {
      await redis.zadd(target, 'GT', ...[...slices(some, 2)].flatMap(([member = '', score = '0']) => [score, member]));
    }
    const leftMs = await redis.pttl(key);
    if (leftMs > (await redis.pttl(target))) await redis.pexpire(target, leftMs);
  } else if (type === 'string') {
    const value = await redis.get(key);
    if (value !== null) await redis.set(target, value, 'KEEPTTL');
  }
}
