import type { ContactRecord } from '../../../core/feedback/schemas.ts';
import type { Policy, Throttle } from '../../config/policy.ts';
import type { HeldBy, Limit } from '../../journey/contacts.ts';
import { asEarlier, beforeThat, elsewhere, type LastAsked } from '../../journey/last-asked.ts';
import { type CampaignRule, policiesOf } from '../rules.ts';

/** A throttle, and which requests it counts. */
export interface Scope extends Throttle {
  /** The name for traces: `rule "all"`, `campaign 12`. */
  name: string;
  /** The campaigns whose requests count. Undefined: requests in every campaign count. */
  campaigns: ReadonlySet<number> | undefined;
}

export type Throttles = Pick<Policy, 'throttle' | 'campaigns' | 'groups'>;

/** Every throttle that holds for a request of this rule. */
export function scopesOf({ name, throttle, campaign }: CampaignRule, policy: Throttles): Scope[] {
  return [
    ...(throttle ? [{ ...throttle, name: `rule "${name}"`, campaigns: undefined }] : []),
    ...(policy.throttle ? [{ ...policy.throttle, name: 'policy', campaigns: undefined }] : []),
    ...policiesOf(campaign, policy).flatMap(({ name: of, campaigns, throttle: theirs }) =>
      theirs ? [{ ...theirs, name: of, campaigns: new Set(campaigns) }] : [],
    ),
  ];
}

/** Every throttle of a configuration. */
export function throttlesOf(rules: readonly Pick<CampaignRule, 'throttle'>[], policy: Throttles): Throttle[] {
  const parts = [policy, ...rules, ...Object.values(policy.campaigns ?? {}), ...Object.values(policy.groups ?? {})];
  return parts.flatMap(({ throttle }) => throttle ?? []);
}

/** For how long closeloop has to know who was asked. 0: there is no throttle. */
export function longestThrottle(throttles: readonly Throttle[]): number {
  return Math.max(0, ...throttles.map(({ period }) => period));
}

export function prefersLatest({ prefer }: Pick<Throttle, 'prefer'>): boolean {
  return prefer === 'latest';
}

export function limitsOf(scopes: readonly Scope[], now: Date): Limit[] {
  return scopes.map(({ period, campaigns }) => ({ since: new Date(now.getTime() - period), campaigns }));
}

/**
 * The last request to this person that counts for the throttle, by the contact's note here and by the service. A request that was
 * cancelled before it was sent does not count.
 */
export function lastCounted(
  known: Pick<ContactRecord, 'last_appeal'> | undefined,
  lastHere: LastAsked | undefined,
): LastAsked | undefined {
  const here = lastHere?.withdrawn ? beforeThat(lastHere) : lastHere;
  const atService = known?.last_appeal;
  if (!atService || (here && here.at >= atService)) return here;
  if (lastHere?.withdrawn && explains(lastHere, atService)) return here;
  if (here && explains(here, atService)) return { ...here, at: atService };
  return { at: atService, journey: elsewhere, ...(here && asEarlier(here)) };
}

/** Whether the service's `last_appeal` is the request of this note. */
export function explains(lastHere: LastAsked | undefined, lastAppeal: Date): boolean {
  if (!lastHere) return false;
  return (lastHere.scheduled ?? lastHere.at).getTime() >= lastAppeal.getTime() - clockSkewMs;
}

/** A throttle that holds a request, and since when. */
export interface ThrottleHit {
  scope: Scope;
  askedAt: Date;
  /** The journey of that request, or `elsewhere`. */
  journey: string;
  /** That request went to another address of the person. */
  byOther?: boolean;
}

/**
 * The throttles that hold a request because of the last request to this contact, which the note or the service knows. A request that closeloop
 * did not make may have been in any campaign. All requests of closeloop to the person, at any address, count as well (`ContactMemory.reserve`).
 */
export function hitsOfLast(last: LastAsked | undefined, scopes: readonly Scope[], now: Date): ThrottleHit[] {
  if (!last) return [];
  const { campaign, journey } = last;
  const counted = scopes.filter(
    ({ campaigns }) =>
      campaigns === undefined || journey === elsewhere || (campaign !== undefined && campaigns.has(campaign)),
  );
  const held = counted.filter(({ period }) => last.at.getTime() + period > now.getTime());
  return held.map((scope) => ({ scope, askedAt: last.at, journey: last.journey }));
}

/** @param last the note of the address that is to be asked */
export function hitsOf(
  held: readonly HeldBy[],
  scopes: readonly Scope[],
  last: Pick<LastAsked, 'journey' | 'earlier'> | undefined,
): ThrottleHit[] {
  const { journey: own, earlier = [] } = last ?? {};
  const byThis = new Set([own, ...earlier.map(({ journey }) => journey)]);
  return held.flatMap(({ limit, at, journey }) => {
    const scope = scopes[limit];
    return scope ? [{ scope, askedAt: at, journey, ...(!byThis.has(journey) && { byOther: true }) }] : [];
  });
}

/** The clocks of closeloop and the service may differ by this much: a request scheduled this long before an intent may belong to the intent. */
export const clockSkewMs = 120_000;
