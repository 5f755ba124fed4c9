import type { Contact } from '../../../core/contact.ts';
import type { Campaign, ContactRecord } from '../../../core/feedback/schemas.ts';
import { formatDuration, minutesInWords } from '../../../core/schedule/duration.ts';
import type { Policy } from '../../config/policy.ts';
import type { Throttle } from '../../config/throttle.ts';
import type { HeldBy, Limit, WaitingClosing } from '../../journey/contacts.ts';
import type { Journey } from '../../journey/journey.ts';
import { asEarlier, beforeThat, elsewhere, type LastAsked } from '../../journey/last-asked.ts';
import type { Skip } from '../../journey/reasons.ts';
import { type CampaignRule, policiesOf } from '../rules.ts';
import { askingTime, type TimingContext, tooOld } from './asking-time.ts';

/** A throttle, and which requests it counts. */
export interface Scope extends Throttle {
  /** For traces: `rule "all"`, `campaign 12`. */
  name: string;
  /** Undefined: requests in every campaign. */
  campaigns: ReadonlySet<number> | undefined;
}

export type Throttles = Pick<Policy, 'throttle' | 'campaigns' | 'groups'>;

/** Every throttle that a request of this rule has to keep to. */
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
}

/**
 * What holds a request for the sake of the last request to this contact, by the note or by the service. A request that closeloop did not
 * make may have been in any campaign; all that closeloop has made to the person, at any address, count as well (`ContactMemory.reserve`).
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

export function hitsOf(held: readonly HeldBy[], scopes: readonly Scope[]): ThrottleHit[] {
  return held.flatMap(({ limit, at, journey }) => {
    const scope = scopes[limit];
    return scope ? [{ scope, askedAt: at, journey }] : [];
  });
}

/** What throttles do with a request: skip the request where one throttle drops requests, else postpone the request until all throttles are over. */
export type Throttled = ({ do: 'skip' } & Skip) | { do: 'wait'; until: Date; why: string };

/** Undefined: no throttle holds the request. */
export function throttled(hits: readonly ThrottleHit[], now: Date): Throttled | undefined {
  const until = Math.max(...hits.map(({ scope, askedAt }) => askedAt.getTime() + scope.period));
  const drops = hits.filter(({ scope }) => scope.otherwise === 'drop');
  const sentences = (drops.length > 0 ? drops : hits).map((hit) => inWords(hit, now));
  if (hits.length === 0) return undefined;
  const why = sentences.join('; ');
  return drops.length > 0 ? { do: 'skip', reason: 'throttled', why } : { do: 'wait', until: new Date(until), why };
}

/** When a request that throttles hold may be made: once the throttles are over and the windows open, unless the closing is too old by then. */
export function heldUntil(
  no: Throttled,
  closing: Pick<Journey, 'closedAt' | 'backfilled' | 'place' | 'hurried'> & { contact: Contact },
  rule: CampaignRule,
  campaign: Campaign,
  context: TimingContext,
): ({ do: 'skip' } & Skip) | { do: 'wait'; at: Date; why: string[] } {
  if (no.do === 'skip') return no;
  const time = askingTime(rule, campaign, closing, context, no.until);
  if (!time.ok) return { do: 'skip', reason: 'no-time', why: time.why };
  const { closedAt, backfilled } = closing;
  const old = backfilled ? undefined : tooOld({ closedAt }, rule, campaign, time.at);
  if (old) return { do: 'skip', ...old, why: `${no.why}, and would be ${old.why} then` };
  return { do: 'wait', at: time.at, why: [`waits: ${no.why}`, ...time.why] };
}

function inWords({ scope: { name, period }, askedAt }: ThrottleHit, now: Date): string {
  const until = new Date(askedAt.getTime() + period).toISOString();
  const ago = spanInWords(now.getTime() - askedAt.getTime());
  return `the person was asked ${ago} ago (throttle of ${name}, ${formatDuration(period)}: until ${until})`;
}

/**
 * The closing to ask about in place of this closing, among a person's closings that wait: the last that was closed until the first of them
 * was due. Still later closings don't count, or a person with a closing every day would never be asked. Pure.
 */
export function chosenBefore<Closing extends WaitingClosing>(
  own: Closing,
  others: readonly Closing[],
): Closing | undefined {
  const all = [own, ...others];
  const firstDue = Math.min(...all.map(({ dueAt }) => dueAt.getTime()));
  const inTime = all.filter(({ closedAt }) => closedAt.getTime() <= firstDue);
  const last = inTime.reduce((found, one) => (isLater(one, found) ? one : found), own);
  return last === own ? undefined : last;
}

/** Of two closings of one instant the journey's name decides, so that both journeys find the same closing. */
export function isLater(one: WaitingClosing, other: WaitingClosing): boolean {
  const byMs = one.closedAt.getTime() - other.closedAt.getTime();
  return byMs > 0 || (byMs === 0 && one.journey > other.journey);
}

/** The clocks of closeloop and of the service may differ by this: a request scheduled so long before an intent may be of that intent. */
export const clockSkewMs = 120_000;

/** "less than a minute", "4 hours", "29 days": rounded down. */
function spanInWords(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 1 ? 'less than a minute' : minutesInWords(minutes, { hours: 60, days: 2_880 });
}
