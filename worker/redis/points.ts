import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Budget, PointsBucket, PointsWanted, Urgency } from '../../core/connector/contract.ts';
import type { Ports } from '../../core/ports.ts';
import { type RedisClient, runScript } from './client.ts';

/** Background calls leave this part of a bucket to other work, and wait behind work that arrives up to a minute later. */
const backgroundFloor = 0.5;
const backgroundMs = 60_000;
/** The time between two checks of the bucket by the first caller in line: another process may have given points back. */
const pollMs = 100;
/** The place of a process that has not renewed it for this long is dropped. */
const goneMs = 5_000;
/** A call without a reported outcome counts as over after this time, which is longer than any call takes. */
const underWayMs = 120_000;
/** How long the keys are kept after the last call: by then every bucket is full again. */
const keepMs = 86_400_000;

/**
 * The first caller in line takes points for as many records as the bucket can pay for now. It takes points for at least `least` records, or as many
 * as half of the caller's part of the bucket pays for, so that a nearly empty bucket isn't spent record by record. Else returns how long to wait.
 * KEYS bucket, line, seen, under way · ARGV now, id, rank, base, each, least, most, floor, assumed limit, assumed points a second,
 * look, gone, under way, keep
 */
const takeScript = `
local now, id, base, each = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local least, most = tonumber(ARGV[6]), tonumber(ARGV[7])
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do
  redis.call('ZREM', KEYS[2], gone)
  redis.call('ZREM', KEYS[3], gone)
end
redis.call('ZADD', KEYS[2], ARGV[3], id)
redis.call('ZADD', KEYS[3], now + ARGV[12], id)
redis.call('PEXPIRE', KEYS[2], ARGV[14])
redis.call('PEXPIRE', KEYS[3], ARGV[14])
if redis.call('ZRANGE', KEYS[2], 0, 0)[1] ~= id then return {0, tonumber(ARGV[11])} end
local held = redis.call('HMGET', KEYS[1], 'limit', 'rate', 'available', 'at')
local limit, rate = tonumber(held[1] or ARGV[9]), tonumber(held[2] or ARGV[10])
local at = tonumber(held[4] or now)
local available = math.min(limit, tonumber(held[3] or limit) + math.max(0, now - at) * rate / 1000)
least = math.min(most, math.max(least, math.floor((limit * (1 - ARGV[8]) / 2 - base) / each)))
local need = math.min(base + least * each, limit)
local floor = math.max(0, math.min(limit * tonumber(ARGV[8]), limit - need))
if available - floor < need then return {0, math.ceil((need - available + floor) * 1000 / rate)} end
local records = math.max(least, math.min(most, math.floor((available - floor - base) / each)))
local cost = math.ceil(base + records * each)
redis.call('HSET', KEYS[1], 'limit', limit, 'rate', rate, 'available', tostring(math.max(0, available - cost)), 'at', math.max(now, at))
redis.call('PEXPIRE', KEYS[1], ARGV[14])
redis.call('ZADD', KEYS[4], now + ARGV[13], id .. ' ' .. cost)
redis.call('PEXPIRE', KEYS[4], ARGV[14])
redis.call('ZREM', KEYS[2], id)
redis.call('ZREM', KEYS[3], id)
return {records, 0}`;

/**
 * Ends a call. The points that the vendor reports as available may still include points that were taken here for calls under way.
 * KEYS bucket, under way · ARGV now, id and cost, given back; and, where the vendor reported them: limit, points a second, available
 */
const settleScript = `
local now = tonumber(ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local held = redis.call('HMGET', KEYS[1], 'limit', 'rate', 'available', 'at')
if not held[1] then return 0 end
local limit, rate, at = tonumber(held[1]), tonumber(held[2]), tonumber(held[4])
local available = tonumber(held[3]) + math.max(0, now - at) * rate / 1000 + ARGV[3]
if ARGV[4] then
  limit, rate = tonumber(ARGV[4]), tonumber(ARGV[5])
  local others = 0
  for _, one in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do others = others + tonumber(string.match(one, ' (.+)$')) end
  available = math.min(tonumber(ARGV[6]), math.max(available, ARGV[6] - others))
end
available = math.max(0, math.min(limit, available))
redis.call('HSET', KEYS[1], 'limit', limit, 'rate', rate, 'available', tostring(available), 'at', math.max(now, at))
return 1`;

/** The points in an account's bucket now; undefined where no points were taken recently. */
export async function readPoints(
  redis: RedisClient,
  tag: string,
  now: Date,
): Promise<{ limit: number; remaining: number } | undefined> {
  const held = await redis.hmget(`${tag}:points`, 'limit', 'rate', 'available', 'at');
  const [limit = 0, rate = 0, available = 0, at = 0] = held.map(Number);
  if (limit === 0) return undefined;
  return { limit, remaining: Math.min(limit, available + (Math.max(0, now.getTime() - at) * rate) / 1_000) };
}

const Taken = z.tuple([z.number(), z.number()]);

/**
 * The points of one account, shared by all processes. A caller takes points before a call; the oldest work goes first. `tag`: the slot of the keys.
 * The times are of the caller's clock; where the clocks of processes differ by seconds, the vendor's responses correct the difference.
 */
export function createPoints(
  redis: RedisClient,
  tag: string,
  { now, sleep }: Pick<Ports, 'now' | 'sleep'>,
): Budget['takePoints'] {
  const line = createLine();
  const [bucket, waiting, seen, underWay] = [`${tag}:points`, `${tag}:line`, `${tag}:line-seen`, `${tag}:under-way`];

  async function attempt(id: string, rank: number, wanted: PointsWanted, urgency: Urgency) {
    const { base, each, most, least = 1, assumed } = wanted;
    const floor = urgency === 'background' ? backgroundFloor : 0;
    const call = [now().getTime(), id, rank, base, each, least, most, floor];
    const times = [pollMs, goneMs, underWayMs, keepMs];
    const args = [...call, assumed.limit, assumed.perSecond, ...times];
    return Taken.parse(await runScript(redis, takeScript, [bucket, waiting, seen, underWay], ...args));
  }

  return async (wanted, urgency = 'work') => {
    const id = randomUUID();
    const since = wanted.since ?? now().getTime();
    const rank = since + (urgency === 'background' ? backgroundMs : 0);
    const place = line.enter(rank);
    try {
      for (;;) {
        await place.first();
        const [records, waitMs] = await attempt(id, rank, wanted, urgency);
        if (records > 0) {
          const cost = Math.ceil(wanted.base + records * wanted.each);
          const settle = async (said: PointsBucket | 'unspent' | 'unknown') => {
            const back = said === 'unspent' ? cost : 0;
            const reported = typeof said === 'string' ? [] : [said.limit, said.perSecond, said.available];
            const args = [now().getTime(), `${id} ${cost}`, back, ...reported];
            await runScript(redis, settleScript, [bucket, underWay], ...args);
          };
          return { records, since, settle };
        }
        await sleep(Math.min(waitMs, pollMs));
      }
    } finally {
      place.leave();
    }
  };
}

export interface Place {
  /** Resolves when this place is the first. May be called again, as a lower rank may have entered since. */
  first(): Promise<void>;
  /** Leaves the line; called once. */
  leave(): void;
}

/** A waiting line within one process: lowest rank first, then in order of arrival. */
export function createLine(): { enter(rank: number): Place } {
  const waiting: { rank: number; wake: () => void }[] = [];
  return {
    enter(rank) {
      const own = { rank, wake: (): void => undefined };
      const behind = waiting.findIndex((one) => one.rank > rank);
      waiting.splice(behind === -1 ? waiting.length : behind, 0, own);
      return {
        async first() {
          while (waiting[0] !== own) {
            await new Promise<void>((resolve) => {
              own.wake = resolve;
            });
          }
        },
        leave() {
          waiting.splice(waiting.indexOf(own), 1);
          waiting[0]?.wake();
        },
      };
    },
  };
}
