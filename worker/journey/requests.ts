import { type RedisClient, runScript } from '../redis/client.ts';
import type { JourneyKeys } from './journey-keys.ts';
import { beginPassScript } from './journey-scripts.ts';

/** A collecting pass over one campaign. The pass with the higher generation has read the newer export. */
export interface CollectPass {
  campaign: number;
  generation: number;
}

export type JourneyRequests = ReturnType<typeof journeyRequests>;

/** Knows to which journey of one source each feedback request belongs, and which collecting pass may save its answer. */
export const journeyRequests = (redis: RedisClient, keys: JourneyKeys) => ({
  /** From now on no older pass over this campaign changes a journey of this source. */
  async beginPass({ campaign, generation }: CollectPass): Promise<void> {
    await runScript(redis, beginPassScript, [keys.pass(campaign)], generation);
  },

  /** The journey of each feedback request; undefined for a request that is not this source's. */
  async journeyIdsOf(requestIds: readonly string[]): Promise<(string | undefined)[]> {
    if (requestIds.length === 0) return [];
    const pipeline = redis.pipeline();
    for (const id of requestIds) pipeline.hget(keys.requests(id), id);
    const answers = (await pipeline.exec()) ?? [];
    return answers.map(([error, id]) => {
      if (error) throw error;
      if (typeof id !== 'string') return undefined;
      return id.includes('.') ? id : `${id}.1`;
    });
  },
});
