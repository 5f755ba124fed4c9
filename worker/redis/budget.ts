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

/** One budget per vendor account, over all processes on this Redis. */
export function createBudget(redis: RedisClient, settings: BudgetSettings, ports: Pick<Ports, 'sleep'>): Budget {
  const { account, perSecond, burst = 1, maxWaitMs = 15_000 } = settings;
  const tag = `{cl:${account}}:budget`;
  const pauseKey = (lane?: string) => (lane === undefined ? `${tag}:pause` : `${tag}:pause:${lane}`);
  const step = perSecond === undefined ? 0 : 1000 / perSecond;

  return {
    async take(lane) {
      const keys = [`${tag}:slot`, pauseKey(), ...(lane === undefined ? [] : [pauseKey(lane)])];
      let patience = maxWaitMs;
      for (;;) {
        const waitMs = z.number().parse(await redis.eval(takeScript, keys.length, ...keys, step, burst, patience));
        if (waitMs > patience) {
          throw new CloseloopError(
            `The quota of account ${account} is used up for ${Math.ceil(waitMs / 1000)} s`,
            { kind: 'transient', retryAfterMs: waitMs, throttled: true },
            { outcome: 'never-sent' },
          );
        }
        if (waitMs <= 0) return;
        await ports.sleep(waitMs);
        // With a rate the slot is ours now. Without one, somebody may have been told to pause meanwhile: look again.
        if (step > 0) return;
        patience -= waitMs;
      }
    },

    async pause(ms, lane) {
      if (ms > 0) await redis.eval(pauseScript, 1, pauseKey(lane), Math.ceil(ms));
    },
  };
}
