import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';

const key = `${globalTag}:last-check`;

const LastCheck = z.object({
  at: z.coerce.date(),
  /** The source that was checked; undefined: all sources. */
  only: z.string().optional(),
  findings: z.array(
    z.object({
      source: z.string(),
      level: z.enum(['error', 'warning']),
      at: z.string(),
      problem: z.string(),
      remedy: z.string(),
    }),
  ),
});
export type LastCheck = z.output<typeof LastCheck>;

/** The latest findings of `closeloop check`, for the page. Findings hold no personal data and no secrets. */
export async function saveCheck(redis: RedisClient, check: LastCheck): Promise<void> {
  await redis.set(key, JSON.stringify(check));
}

/** Undefined: nobody has checked yet. */
export async function lastCheck(redis: RedisClient): Promise<LastCheck | undefined> {
  const stored = await redis.get(key);
  return stored === null ? undefined : LastCheck.parse(JSON.parse(stored));
}
