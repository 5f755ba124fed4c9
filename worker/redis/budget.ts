import { z } from 'zod';
import type { Budget } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import type { RedisClient } from '../journey/store.ts';

export interface BudgetSettings {
  /** The vendor account: everybody with this name shares the budget. */
  account: string;
  /** Calls per second in the long run, and how many may come at once. Left out: only pauses hold calls back. */
  perSecond?: number;
  burst?: number;
  /** A longer wait is the queue's, not the call's. */
  maxWaitMs?: number;
}

/**
 * Reserves the next free slot (GCRA, by Redis' clock) after any pause; answers with the wait in milliseconds. When the
 * wait is longer than the caller will stay, nothing is reserved.
 * KEYS slot, pauses… · ARGV ms between calls (0: no rate), burst, longest wait
 */
const takeScript = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local at = now
for i = 2, #KEYS do
  local left = redis.call('PTTL', KEYS[i])
  if left > 0 then at = math.max(at, now + left) end
end
local step, burst, longest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if step > 0 then
  local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), at)
  at = math.max(at, math.ceil(tat - step * (burst - 1)))
  if at - now <= longest then
    redis.call('SET', KEYS[1], string.format('%.3f', tat + step), 'PX', math.ceil(tat + step - now + step * burst) + 1000)
  end
end
return at - now`;

/** A pause only ever grows. KEYS pause · ARGV ms */
const pauseScript = `
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) end
return 1`;

/** What is left of the longest pause, in milliseconds. KEYS pauses… */
const pausedScript = `
local longest = 0
for i = 1, #KEYS do longest = math.max(longest, redis.call('PTTL', KEYS[i])) end
return longest`;

/** One budget per vendor account, over all processes on this Redis. Its keys share a slot of a Redis Cluster. */
export function createBudget(redis: RedisClient, settings: BudgetSettings, ports: Pick<Ports, 'sleep'>): Budget {
  const { account, perSecond, burst = 1, maxWaitMs = 15_000 } = settings;
  const tag = `{cl:${account}}:budget`;
  const pauseKey = (lane?: string) => (lane === undefined ? `${tag}:pause` : `${tag}:pause:${lane}`);
  const step = perSecond === undefined ? 0 : 1000 / perSecond;
  const run = async (script: string, keys: string[], ...args: number[]): Promise<number> =>
    z.number().parse(await redis.eval(script, keys.length, ...keys, ...args));

  return {
    async take(lane) {
      const pauses = [pauseKey(), ...(lane === undefined ? [] : [pauseKey(lane)])];
      let patience = maxWaitMs;
      for (;;) {
        const waitMs = await run(takeScript, [`${tag}:slot`, ...pauses], step, burst, patience);
        if (waitMs > patience) {
          throw new CloseloopError(
            `The quota of account ${account} is used up for ${Math.ceil(waitMs / 1000)} s`,
            { kind: 'transient', retryAfterMs: waitMs, throttled: true },
            { outcome: 'never-sent' },
          );
        }
        if (waitMs <= 0) return;
        await ports.sleep(waitMs);
        patience -= waitMs;
        // Another process may have been told to pause meanwhile: then this slot is over, and the next one comes after it.
        if ((await run(pausedScript, pauses)) <= 0) return;
      }
    },

    async pause(ms, lane) {
      if (ms > 0) await run(pauseScript, [pauseKey(lane)], Math.ceil(ms));
    },
  };
}
