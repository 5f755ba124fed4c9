import { createSeal } from '../worker/redis/seal.ts';

/** For stores that a test opens itself. Processes that it starts have one of their own, of the Redis they work on. */
export const testSeal = createSeal(new Uint8Array(32).fill(7));
