import DataLoader from 'dataloader';
import { z } from 'zod';
import { type RedisClient, runScript } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';

const dayMs = 86_400_000;

/**
 * Takes slots among each record's actions of a day; an action keeps its slot. Returns for each record how many have a slot.
 * KEYS actions of each record · ARGV ms of a day, of each record: now, most, number of markers, markers…
 */
const takeScript = `
local slots, at = {}, 2
for n, key in ipairs(KEYS) do
  local now, most, last = ARGV[at], tonumber(ARGV[at + 1]), at + 2 + ARGV[at + 2]
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - ARGV[1])
  slots[n] = 0
  for i = at + 3, last do
    if not redis.call('ZSCORE', key, ARGV[i]) then
      if redis.call('ZCARD', key) >= most then break end
      redis.call('ZADD', key, now, ARGV[i])
    end
    slots[n] = slots[n] + 1
  end
  redis.call('PEXPIRE', key, ARGV[1])
  at = last + 1
end
return slots`;

interface Taking {
  recordId: string;
  markers: readonly string[];
  most: number;
  now: Date;
}

/** Limits the actions that answers lead to on each record within a day, over all processes. */
export function actionLimit(redis: RedisClient, source: string) {
  const keyOf = (recordId: string) => `${tagOf(source)}:actions:${recordId}`;
  const takeAll = async (all: readonly Taking[]): Promise<number[]> => {
    const keys = all.map(({ recordId }) => keyOf(recordId));
    const args = all.flatMap(({ markers, most, now }) => [now.getTime(), most, markers.length, ...markers]);
    return z.array(z.number()).parse(await runScript(redis, takeScript, keys, dayMs, ...args));
  };
  /** Takings of the same moment share a call. */
  const takings = new DataLoader(takeAll, { cache: false, maxBatchSize: 100 });

  return {
    /**
     * How many of these may run, from the first on.
     * @param markers the actions: each is counted once, however often it is tried
     */
    async take(recordId: string, markers: readonly string[], most: number, now: Date): Promise<number> {
      return await takings.load({ recordId, markers, most, now });
    },

    /** These have come to nothing before they began. */
    async giveBack(recordId: string, markers: readonly string[]): Promise<void> {
      if (markers.length > 0) await redis.zrem(keyOf(recordId), ...markers);
    },
  };
}
