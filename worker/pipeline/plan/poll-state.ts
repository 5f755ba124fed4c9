import { z } from 'zod';
import type { RedisClient } from '../../redis/client.ts';
import { tagOf } from '../../redis/keys.ts';

/** The stored state of a source's polls: for `status`, and for the next poll. */
const Known = z.object({
  /** When closeloop first knew this source: closeloop does not ask about earlier closings, unless a person starts a backfill. */
  since: z.coerce.number().transform((ms) => new Date(ms)),
  cursor: z.string().optional(),
  /** When the last successful poll ended, and when the last poll began. */
  doneAt: z.coerce
    .number()
    .transform((ms) => new Date(ms))
    .optional(),
  begunAt: z.coerce.number().default(0),
  /** Closings that no webhook had reported. */
  missed: z.coerce.number().default(0),
});
export type PollState = z.output<typeof Known>;

/** The key of a hash. */
export const pollKey = (source: string): string => `${tagOf(source)}:poll`;

export async function pollState(redis: RedisClient, source: string): Promise<PollState | undefined> {
  const stored = await redis.hgetall(pollKey(source));
  return stored.since === undefined ? undefined : Known.parse(stored);
}

export async function countMissed(redis: RedisClient, source: string): Promise<void> {
  await redis.hincrby(pollKey(source), 'missed', 1);
}
