import { resolve } from 'node:path';
import { serverCache as cacheOf } from '../../worker/redis/server-binary.ts';

/** Where the tests' Redis server lies: the user's, or where there is no such place one for the whole project. */
export const serverCache = cacheOf(resolve(import.meta.dirname, '../../.closeloop/redis-server'), process.env);
