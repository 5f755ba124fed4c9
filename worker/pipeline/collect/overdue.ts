import { campaignNumbers } from '../../config/campaign-choice.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import type { RedisClient } from '../../redis/client.ts';
import { absentKey, begunKey, failingKey } from '../../redis/keys.ts';
import type { LoadedRule } from '../rules.ts';

/** After this time without grades coming in a person is alerted. Real time. */
const overdueMs = 86_400_000;
/** Passes that may be missed, and for how long at least: a worker may be restarted, and a pass may take long. */
const missedPasses = 20;
const leastMs = 900_000;

interface OverdueOptions {
  redis: RedisClient;
  sources: () => Promise<{ rules: readonly Pick<LoadedRule, 'campaign'>[] }[]>;
  alert: AlertOfSource;
  /** From one pass to the next. Real time. */
  everyMs: number;
}

/**
 * Alerts a person of campaigns whose grades do not come in: every pass fails, or no pass begins any more. Runs outside the passes,
 * as a pass that does not run reports nothing. @returns the reasons
 */
export async function alertOverdue(campaigns: readonly number[], options: OverdueOptions): Promise<string[]> {
  const reported: string[] = [];
  for (const campaign of campaigns) {
    const overdue = await overdueOf(campaign, options);
    if (!overdue) continue;
    reported.push(overdue.why);
    await options.alert('paused', overdue.why, overdue.remedy);
  }
  return reported;
}

async function overdueOf(campaign: number, { redis, sources, everyMs }: OverdueOptions) {
  const field = String(campaign);
  const now = Date.now();
  // For a new campaign the time begins now.
  await redis.hsetnx(begunKey, field, now);
  const begun = Number(await redis.hget(begunKey, field));
  if (now - begun > Math.max(missedPasses * everyMs, leastMs)) {
    const why = `campaign ${campaign}: no pass over its grades begins any more`;
    return {
      why,
      remedy: 'see that a worker runs ("closeloop start"), and what of it is stopped ("closeloop status")',
    };
  }
  const failing = await redis.hget(failingKey, field);
  if (failing === null || now - Number(failing) <= overdueMs) return undefined;
  const why = `campaign ${campaign}: its grades have not come in for a day`;
  if ((await redis.sismember(absentKey, field)) === 0)
    return { why, remedy: 'see "grades could not be collected" in the log' };
  // A campaign that no rule asks in any more was given up on purpose.
  const isAsked = (await sources()).some(({ rules }) => campaignNumbers(rules).includes(campaign));
  if (!isAsked) return undefined;
  return { why: `${why}: it is inactive, or of another account`, remedy: 'activate it, or remove the rule' };
}
