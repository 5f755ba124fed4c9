import { resolve } from 'node:path';

/** Where the tests' Redis server lies: one download for the whole project. */
export const serverCache = resolve(import.meta.dirname, '../../.closeloop/redis-server');
