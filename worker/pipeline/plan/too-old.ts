import type { Campaign } from '../../../core/feedback/schemas.ts';
import { formatDuration } from '../../../core/schedule/duration.ts';
import type { Skip } from '../../journey/reasons.ts';
import type { LoadedRule } from '../rules.ts';

const hourMs = 3_600_000;
const graceMs = 72 * hourMs;

type Timed = Pick<LoadedRule, 'maxAge' | 'delay'>;
type Delayed = Pick<Campaign, 'type' | 'send_delay'>;

/**
 * Why it is too late to ask about a closing, if so. Once it is planned its age says nothing, as a window may rightly open a week later:
 * then it counts how far the plan has been missed. In an external campaign nobody is asked anything.
 * @param closing `dueAt`: for when it was planned, where it was
 */
export function tooOld(
  { closedAt, dueAt }: { closedAt: Date; dueAt?: Date | undefined },
  rule: Timed,
  campaign: Delayed,
  now: Date,
): Skip | undefined {
  const { maxAge, delay } = limitsOf(rule, campaign);
  if (maxAge === false || campaign.type === 'external') return undefined;
  const [since, most] = dueAt === undefined ? [closedAt, maxAge] : [dueAt, maxAge - delay];
  const age = now.getTime() - since.getTime();
  if (age <= Math.max(0, most)) return undefined;
  const what = dueAt === undefined ? `closed ${inHours(age)} ago` : `${inHours(age)} later than planned`;
  return { reason: 'too-old', why: `too old to ask: ${what} (maxAge ${formatDuration(maxAge)})` };
}

/** Of a rule that would ask nobody, as each closing is too old when its delay has passed. */
export function maxAgeProblems(rule: Timed, campaign: Delayed): string[] {
  const { maxAge, delay } = limitsOf(rule, campaign);
  if (maxAge === false || maxAge > delay || campaign.type === 'external') return [];
  return [
    `maxAge (${formatDuration(maxAge)}) must be longer than the delay (${formatDuration(delay)}): each closing would be too old to ask about`,
  ];
}

function limitsOf(rule: Timed, campaign: Delayed): { maxAge: number | false; delay: number } {
  const delay = rule.delay ?? (campaign.send_delay ?? 0) * 60_000;
  return { maxAge: rule.maxAge ?? delay + graceMs, delay };
}

function inHours(ms: number): string {
  return formatDuration(ms < hourMs ? ms : Math.floor(ms / hourMs) * hourMs);
}
