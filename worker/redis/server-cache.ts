import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Env, userCache } from './user-cache.ts';

/**
 * The folder for a fetched server: one for all working folders of a user. `own` is taken where the user has no such place, and
 * where a server lies already.
 */
export function serverCache(own: string, env: Env): string {
  const shared = existsSync(own) ? undefined : userCache(env);
  return shared === undefined ? own : join(shared, 'redis-server');
}
