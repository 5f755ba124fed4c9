import type { Campaign } from '../../core/feedback/schemas.ts';
import { type OpenDay, openDays } from '../../core/schedule/open-days.ts';
import { type PlaceHints, recipientPlace } from '../../core/schedule/recipient-place.ts';
import type { MessageHours } from '../../core/schedule/send-time.ts';
import { wallTime } from '../../core/schedule/wall-clock.ts';
import type { Config } from '../config/config.ts';
import type { Rule } from '../config/rule.ts';
import { mayText, messageHours } from '../pipeline/policy/asking-time.ts';

/** Everything that decides when a rule may ask in a campaign. @param recipient the known data of the recipient */
export function hoursIn(
  rule: Rule,
  campaign: Campaign,
  recipient: Pick<PlaceHints, 'timeZone' | 'country'>,
  { feedback, policy, holidays }: Pick<Config, 'feedback' | 'policy' | 'holidays'>,
): MessageHours {
  const context = { timeZone: feedback.timeZone, policy, holidays };
  return {
    ...messageHours(rule, campaign, context, mayText(campaign)),
    recipient: recipientPlace(recipient, feedback.timeZone),
  };
}

/** A stretch of a day, in milliseconds of its wall clock. */
export type Stretch = readonly [from: number, until: number];

const dayMs = 86_400_000;

/** The open hours of a day by the clock on the wall: an hour that comes twice is drawn once, and a skipped hour is not open. */
export function stretchesOf({ open }: OpenDay, zone: string): Stretch[] {
  const at = (instant: Date) => wallTime(zone, instant.getTime()).ms;
  return open.map(({ from, until }) => [at(from), at(until) || dayMs] as const);
}

/** The coming days of a rule, as a recipient in the account's zone sees them. @throws CloseloopError config for windows that can't be */
export function comingDays(
  rule: Rule,
  campaign: Campaign,
  config: Pick<Config, 'feedback' | 'policy' | 'holidays'>,
  { first, count }: { first: string; count: number },
): OpenDay[] {
  return openDays(hoursIn(rule, campaign, {}, config), config.feedback.timeZone, first, count);
}
