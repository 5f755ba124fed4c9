import type { RedisClient } from '../../worker/redis/client.ts';
import { DataKey, operatorKeys } from '../../worker/redis/data-key.ts';
import { createSeal, type Seal } from '../../worker/redis/seal.ts';

/** For stores that a test opens itself. Processes that it starts have one of their own, of the Redis they work on. */
export const testSeal = createSeal(new Uint8Array(32).fill(7));

/** The one of the installation in this Redis, where the configuration has no `secretsKey`. */
export async function sealOf(redis: RedisClient, apiKey = 'demo-key'): Promise<Seal> {
  return (await DataKey.open(redis, operatorKeys({ feedback: { apiKey } }))).seal;
}
