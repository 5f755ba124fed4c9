import { z } from 'zod';
import type { Budget } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import { longestWaitMs } from '../../core/retry.ts';
import { type RedisClient, runScript } from './client.ts';
import { createPoints, readPoints } from './points.ts';

export interface BudgetSettings {
  /** The vendor account: all sources and processes with this name share the budget. */
  account: string;
  /** The longest wait for a call. If the wait would be longer, the call fails, and the job waits in the queue. */
  maxWaitMs?: number;
}

/** Background calls may use a daily limit of the whole account down to its last tenth, and any other quota down to its last half. */
const daily = 'daily';
const floorOf = (name: string): number => (name === daily ? 0.1 : 0.5);

/**
 * Returns the milliseconds until closeloop makes the next call, and until the vendor allows it. With 0 one call is taken out of every quota. No call
 * is made during a pause, or with a quota used up; background calls stop at a quota's floor.
 * KEYS pauses…, quotas… · ARGV number of pauses, '1' for background, floor of each quota
 */
const takeScript = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local pauses = tonumber(ARGV[1])
local wait, said = 0, 0
local function stop(key, untilWhen)
  local ms = redis.call('PTTL', key)
  wait, said = math.max(wait, ms), math.max(said, ms, tonumber(untilWhen or 0) - now)
end
for i = 1, pauses do
  local untilWhen = redis.call('GET', KEYS[i])
  if untilWhen then stop(KEYS[i], untilWhen) end
end
for i = pauses + 1, #KEYS do
  local quota = redis.call('HMGET', KEYS[i], 'limit', 'remaining', 'until')
  if quota[1] then
    local floor = 0
    if ARGV[2] == '1' then floor = tonumber(quota[1]) * tonumber(ARGV[i - pauses + 2]) end
    if tonumber(quota[2]) <= floor then stop(KEYS[i], quota[3]) end
  end
end
if wait > 0 then return {wait, said} end
for i = pauses + 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('HINCRBY', KEYS[i], 'remaining', -1) end
end
return {0, 0}`;

/** The longest demanded wait that closeloop reports to people. */
const longestSaidMs = 86_400_000;
const Waits = z.tuple([z.number(), z.number()]);

/** An upper limit for reported quotas: more than the quota of any account. */
const mostCalls = 1_000_000_000;

/** A pause can only become longer. Its value is when the vendor allows the next call. KEYS pause, names of endpoints · ARGV ms, ms said, name */
const pauseScript = `
if redis.call('PTTL', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
local t = redis.call('TIME')
redis.call('SET', KEYS[1], string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[2]), 'PX', ARGV[1])
redis.call('SADD', KEYS[2], ARGV[3])
return 1`;

/**
 * Stores the remaining quota that the vendor reports. Within one window the remaining quota only falls: a response that was overtaken shows too
 * much, and calls that are still on their way are counted here already. A window counts for a quarter of an hour at most:
 * then a response reports the remaining quota again.
 * KEYS quota, names of endpoints · ARGV limit, remaining, ms, name, ms said
 */
const leftScript = `
redis.call('SADD', KEYS[2], ARGV[4])
local known = redis.call('HGET', KEYS[1], 'remaining')
redis.call('HSET', KEYS[1], 'limit', ARGV[1])
if known and tonumber(known) <= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'remaining', ARGV[2])
if not known then
  local t = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'until', string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[5]))
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 1`;

const tagOfBudget = (account: string): string => `{cl:${account}}:budget`;
const namesOf = (tag: string): string => `${tag}:quotas`;
const pauseOf = (tag: string, endpoint?: string) => (endpoint ? `${tag}:pause:${endpoint}` : `${tag}:pause`);
const quotaOf = (tag: string, name?: string) => (name ? `${tag}:quota:${name}` : `${tag}:quota`);

/** The name of the budget of a vendor's account, which all its sources share. */
export const budgetAccount = (connector: string, account: string): string => `${connector}:${account}`;

/** Ends all waits of an account, for a person who knows that they have ended. The vendor's next response reports the present limits. */
export async function liftWaits(redis: RedisClient, account: string): Promise<void> {
  const tag = tagOfBudget(account);
  const names = new Set(['', daily, ...(await redis.smembers(namesOf(tag)))]);
  await redis.del(...[...names].flatMap((name) => [pauseOf(tag, name), quotaOf(tag, name)]));
}

/** The remainder of each known quota of an account: the quotas of calls that responses reported, and the account's points. */
export async function remainingQuotas(
  redis: RedisClient,
  account: string,
  now: Date,
): Promise<{ quota: string; limit: number; remaining: number }[]> {
  const tag = tagOfBudget(account);
  const points = await readPoints(redis, tag, now);
  const names = await redis.smembers(namesOf(tag));
  const quotas = names.map(async (name) => {
    const [limit, remaining] = await redis.hmget(quotaOf(tag, name), 'limit', 'remaining');
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

  return {
    takePoints: createPoints(redis, tag, ports),

    async take(endpoint, urgency = 'work') {
      const endpoints = endpoint === undefined ? [] : [endpoint];
      const pauses = ['', ...endpoints].map((name) => pauseOf(tag, name));
      const quotas = ['', daily, ...endpoints];
      const keys = [...pauses, ...quotas.map((name) => quotaOf(tag, name))];
      let patience = maxWaitMs;
      for (;;) {
        const background = urgency === 'background' ? '1' : '0';
        const args = [pauses.length, background, ...quotas.map(floorOf)];
        const [waitMs, saidMs] = Waits.parse(await runScript(redis, takeScript, keys, ...args));
        if (waitMs <= 0) return;
        if (waitMs > patience) {
          throw new CloseloopError(
            `The quota of account ${account} is used up for ${Math.ceil(saidMs / 1000)} s`,
            { kind: 'transient', retryAfterMs: saidMs, throttled: true },
            { outcome: 'never-sent' },
          );
        }
        await ports.sleep(waitMs);
        patience -= waitMs;
      }
    },

    async pause(ms, endpoint) {
      if (!(ms > 0)) return;
      const args = [Math.ceil(Math.min(longestWaitMs, ms)), Math.ceil(Math.min(longestSaidMs, ms)), endpoint ?? ''];
      await runScript(redis, pauseScript, [pauseOf(tag, endpoint), namesOf(tag)], ...args);
    },

    async reportRemaining({ limit, remaining, resetMs }, name) {
      if (!(limit > 0 && resetMs > 0) || Number.isNaN(remaining)) return;
      const left = Math.max(0, Math.floor(Math.min(mostCalls, remaining)));
      const windowMs = Math.ceil(Math.min(longestWaitMs, resetMs));
      const saidMs = Math.ceil(Math.min(longestSaidMs, resetMs));
      const args = [Math.min(mostCalls, limit), left, windowMs, name ?? '', saidMs];
      await runScript(redis, leftScript, [quotaOf(tag, name), namesOf(tag)], ...args);
    },
  };
}
