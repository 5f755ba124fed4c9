import { z } from 'zod';
import type { Budget } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import type { RedisClient } from './client.ts';
import { createPoints, readPoints } from './points.ts';
import { runScript } from './script.ts';

export interface BudgetSettings {
  /** The vendor account: all sources and processes with this name share the budget. */
  account: string;
  /** For a longer wait the call fails, and the job waits in the queue. */
  maxWaitMs?: number;
}

/** A daily limit of the whole account keeps only its last tenth from the background, not its last half. */
const daily = 'daily';
const floorOf = (name: string): number => (name === daily ? 0.1 : 0.5);

/**
 * Milliseconds until a call may be made; 0 takes one call out of every quota. No call is made during a pause, or with a quota used
 * up; background calls stop at a quota's floor.
 * KEYS pauses…, quotas… · ARGV number of pauses, '1' for background, floor of each quota
 */
const takeScript = `
local pauses = tonumber(ARGV[1])
local wait = 0
for i = 1, pauses do wait = math.max(wait, redis.call('PTTL', KEYS[i])) end
for i = pauses + 1, #KEYS do
  local quota = redis.call('HMGET', KEYS[i], 'limit', 'remaining')
  if quota[1] then
    local floor = 0
    if ARGV[2] == '1' then floor = tonumber(quota[1]) * tonumber(ARGV[i - pauses + 2]) end
    if tonumber(quota[2]) <= floor then wait = math.max(wait, redis.call('PTTL', KEYS[i])) end
  end
end
if wait > 0 then return wait end
for i = pauses + 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('HINCRBY', KEYS[i], 'remaining', -1) end
end
return 0`;

/** The longest window or pause, whatever an answer says. */
const longestMs = 86_400_000;
/** More than the quota of any account. */
const mostCalls = 1_000_000_000;

/** A pause only ever grows. KEYS pause · ARGV ms */
const pauseScript = `
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) end
return 1`;

/**
 * Takes the vendor's figure. Within one window the remaining quota only falls: an answer that was overtaken shows too much, and calls
 * that are still on their way are counted here already. KEYS quota, names of quotas · ARGV limit, remaining, ms, name
 */
const leftScript = `
redis.call('SADD', KEYS[2], ARGV[4])
local known = redis.call('HGET', KEYS[1], 'remaining')
redis.call('HSET', KEYS[1], 'limit', ARGV[1])
if known and tonumber(known) <= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'remaining', ARGV[2])
if not known then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1`;

const tagOfBudget = (account: string): string => `{cl:${account}}:budget`;

/** What remains of each known quota of an account: the quotas of calls that responses reported, and its points. */
export async function remainingQuotas(
  redis: RedisClient,
  account: string,
  now: Date,
): Promise<{ quota: string; limit: number; remaining: number }[]> {
  const tag = tagOfBudget(account);
  const points = await readPoints(redis, tag, now);
  const names = await redis.smembers(`${tag}:quotas`);
  const quotas = names.map(async (name) => {
    const [limit, remaining] = await redis.hmget(`${tag}:quota${name === '' ? '' : `:${name}`}`, 'limit', 'remaining');
    return { quota: name === '' ? 'calls' : name, limit: Number(limit), remaining: Math.max(0, Number(remaining)) };
  });
  // A quota whose window has ended is unknown until a response reports it again.
  const known = (await Promise.all(quotas)).filter(({ limit }) => limit > 0);
  return points === undefined ? known : [...known, { quota: 'points', ...points }];
}

/** One budget per vendor account, over all processes on this Redis. Its keys share a slot of a Redis Cluster. */
export function createBudget(
  redis: RedisClient,
  settings: BudgetSettings,
  ports: Pick<Ports, 'now' | 'sleep'>,
): Budget {
  const { account, maxWaitMs = 15_000 } = settings;
  const tag = tagOfBudget(account);
  const pauseKey = (endpoint?: string) => (endpoint === undefined ? `${tag}:pause` : `${tag}:pause:${endpoint}`);
  const quotaKey = (name?: string) => (name === undefined ? `${tag}:quota` : `${tag}:quota:${name}`);
  const run = async (script: string, keys: string[], ...args: (number | string)[]): Promise<number> =>
    z.number().parse(await runScript(redis, script, keys, ...args));

  return {
    takePoints: createPoints(redis, tag, ports),

    async take(endpoint, urgency = 'work') {
      const endpoints = endpoint === undefined ? [] : [endpoint];
      const pauses = [pauseKey(), ...endpoints.map(pauseKey)];
      const quotas = ['', daily, ...endpoints];
      const keys = [...pauses, ...quotas.map((name) => quotaKey(name === '' ? undefined : name))];
      let patience = maxWaitMs;
      for (;;) {
        const background = urgency === 'background' ? '1' : '0';
        const waitMs = await run(takeScript, keys, pauses.length, background, ...quotas.map(floorOf));
        if (waitMs <= 0) return;
        if (waitMs > patience) {
          throw new CloseloopError(
            `The quota of account ${account} is used up for ${Math.ceil(waitMs / 1000)} s`,
            { kind: 'transient', retryAfterMs: waitMs, throttled: true },
            { outcome: 'never-sent' },
          );
        }
        await ports.sleep(waitMs);
        patience -= waitMs;
      }
    },

    async pause(ms, endpoint) {
      if (ms > 0) await run(pauseScript, [pauseKey(endpoint)], Math.ceil(Math.min(longestMs, ms)));
    },

    async reportRemaining({ limit, remaining, resetMs }, name) {
      if (!(limit > 0 && resetMs > 0) || Number.isNaN(remaining)) return;
      const left = Math.max(0, Math.floor(Math.min(mostCalls, remaining)));
      const windowMs = Math.ceil(Math.min(longestMs, resetMs));
      await run(leftScript, [quotaKey(name), `${tag}:quotas`], Math.min(mostCalls, limit), left, windowMs, name ?? '');
    },
  };
}
