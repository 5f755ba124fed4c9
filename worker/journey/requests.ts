import { type RedisClient, runScript } from '../redis/client.ts';
import type { JourneyKeys } from './journey-keys.ts';

// <tag>:requests:<bucket>  of each feedback request the id of its journey. Of a record's first journey, nearly all are one, it is the
//                          record's id alone unless that has a dot: Redis packs a number in half the bytes.

/** A function for the script that gives a request to a journey: false if the request belongs to another journey. */
export const requestMemory = `
local function takeRequest(requests, request, id)
  local short = string.match(id, '^([^.]+)%.1$') or id
  if redis.call('HSETNX', requests, request, short) == 1 then return true end
  local owner = redis.call('HGET', requests, request)
  return owner == short or owner == id
end
`;

/**
 * Raises the fence of a campaign to this pass's generation: older passes save nothing any more. Never lowers it.
 * KEYS fence · ARGV generation
 */
const beginPassScript = `
if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return 1`;

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
