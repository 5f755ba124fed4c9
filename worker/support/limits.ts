import type { Campaign } from '../../core/feedback/schemas.ts';
import { hourOf, openDay } from '../../core/schedule/open-hours.ts';
import type { LastAsked } from '../journey/last-asked.ts';
import { inWords } from '../pipeline/policy/cap.ts';
import type { Policy } from '../pipeline/policy/source-policy.ts';
import {
  hitsOf,
  hitsOfLast,
  limitsOf,
  scopesOf,
  type ThrottleHit,
  type Throttles,
} from '../pipeline/policy/throttle.ts';
import { type CampaignRule, capsOn } from '../pipeline/rules.ts';
import type { Journeys } from '../pipeline/source-store.ts';

// Tells people, before a request is made, what throttles and caps would do. Nothing is reserved, and no slot is taken.

/**
 * The throttles that hold back a request to this contact at an instant, each by the newest request only: the contact's note and what
 * throttles count may be the same request.
 * @param last as `lastCounted` finds it; @param note of the journey that would ask
 */
export async function hitsNow(
  contactKey: string,
  rule: CampaignRule,
  { last, note }: { last: LastAsked | undefined; note: LastAsked },
  { contacts, policy }: Pick<Journeys, 'contacts'> & { policy: Throttles },
): Promise<ThrottleHit[]> {
  const scopes = scopesOf(rule, policy);
  if (scopes.length === 0) return [];
  const limits = limitsOf(scopes, note.at);
  const held = await contacts.heldBy({ contactKey, campaign: rule.campaign, note, limits });
  const hits = [...hitsOfLast(last, scopes, note.at), ...hitsOf(held, scopes, last)];
  return [...Map.groupBy(hits, ({ scope }) => scope).values()].flatMap(
    (some) => some.toSorted((a, b) => b.askedAt.getTime() - a.askedAt.getTime())[0] ?? [],
  );
}

/** The state of the caps before a request is due. */
export async function capsAhead(
  rule: CampaignRule,
  campaign: Campaign,
  dueAt: Date,
  {
    storedAs,
    policy,
    timeZone,
    caps,
  }: { storedAs: string } & Pick<Policy, 'policy' | 'timeZone'> & Pick<Journeys, 'caps'>,
): Promise<string[]> {
  const scopes = capsOn(storedAs, rule, campaign, policy);
  if (scopes.length === 0) return [];
  const hour = hourOf(dueAt.getTime(), timeZone);
  const day = openDay(dueAt.getTime(), timeZone, (at) => at);
  const taken = await caps.taken(scopes, { hour, day });
  return scopes.map((scope, i) => {
    const { ofHour = 0, ofDay = 0 } = taken[i] ?? {};
    const soFar = [
      ...(scope.hour === undefined ? [] : [`${ofHour} in its hour`]),
      ...(scope.day === undefined ? [] : [`${ofDay} on its day`]),
    ];
    return `${inWords(scope)}: ${soFar.join(', ')} so far; its place is found when it is due, and may be later`;
  });
}
