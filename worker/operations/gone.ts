import { createHash } from 'node:crypto';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';

/** closeloop calls a receiver that is gone again after this time at the latest. Real time. */
const keepMs = 30 * 86_400_000;

const keyOf = (webhook: string): string => `${globalTag}:gone:${webhook}`;
const digestOf = (url: string): string => createHash('sha256').update(url).digest('base64url').slice(0, 22);

interface Named {
  name: string;
  url: string;
}

/** The receiver at this address has answered 410 Gone: nobody calls it any more, until a person has its events sent again. */
export async function noteGone(redis: RedisClient, { name, url }: Named): Promise<void> {
  await redis.set(keyOf(name), digestOf(url), 'PX', keepMs);
}

/** Another address under the same name is another receiver. */
export async function isGone(redis: RedisClient, { name, url }: Named): Promise<boolean> {
  return (await redis.get(keyOf(name))) === digestOf(url);
}

export async function forgetGone(redis: RedisClient, { name }: Pick<Named, 'name'>): Promise<void> {
  await redis.del(keyOf(name));
}
