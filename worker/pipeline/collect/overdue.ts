import type { RedisClient } from '../../redis/client.ts';
import { absentKey, begunKey, failingKey } from '../../redis/keys.ts';
import type { SourceContext } from '../context.ts';

/** Grades that don't come in for so long are told to a person. Real time. */
const overdueMs = 86_400_000;
/** So many passes may be missed, and for so long at least: a worker may be started anew, and a pass may take its time. */
const missedPasses = 20;
const leastMs = 900_000;

export interface OverdueOptions {
  redis: RedisClient;
  sources: SourceContext['sources'];
  alert: SourceContext['alert'];
  /** From one pass to the next. Real time. */
  everyMs: number;
}

/**
 * Campaigns whose grades don't come in: every pass fails, or none begins any more. Asked from outside the passes, as one that
 * doesn't run tells nothing. @returns what was told
 */
export async function tellOverdue(campaigns: readonly number[], options: OverdueOptions): Promise<string[]> {
  const told: string[] = [];
  for (const campaign of campaigns) {
    const overdue = await overdueOf(campaign, options);
    if (!overdue) continue;
    told.push(overdue.why);
    await options.alert('paused', overdue.why, overdue.remedy);
  }
  return told;
}

async function overdueOf(campaign: number, { redis, sources, everyMs }: OverdueOptions) {
  const field = String(campaign);
  const now = Date.now();
  // From now on, for one that is met for the first time.
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
  // One that no rule asks in any more was given up on purpose.
  const isAsked = (await sources()).some(({ rules }) => rules.some((rule) => rule.campaign === campaign));
  if (!isAsked) return undefined;
  return { why: `${why}: it is inactive, or of another account`, remedy: 'activate it, or remove the rule' };
}
