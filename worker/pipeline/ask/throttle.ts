import type { Contact } from '../../../core/contact.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { formatDuration } from '../../../core/schedule/duration.ts';
import { policiesOf } from '../../config/campaign-policy.ts';
import type { Policy } from '../../config/policy.ts';
import type { Throttle } from '../../config/throttle.ts';
import { elsewhere, type HeldBy, type LastAsked, type Limit } from '../../journey/contacts.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Skip } from '../../journey/reasons.ts';
import type { Journeys } from '../context.ts';
import { askingTime, type TimingContext, tooOld } from '../plan/asking-time.ts';
import type { CampaignRule } from '../rules.ts';

/** A throttle, and which requests it counts. */
export interface Scope extends Throttle {
  /** For traces: `rule "all"`, `campaign 12`. */
  name: string;
  /** Undefined: requests in every campaign. */
  campaigns: ReadonlySet<number> | undefined;
}

type Throttles = Pick<Policy, 'throttle' | 'campaigns' | 'groups'>;

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

/** For how long it has to be known who was asked. 0: there is no throttle. */
export function longestThrottle(throttles: readonly Throttle[]): number {
  return Math.max(0, ...throttles.map(({ period }) => period));
}

export function prefersLatest({ prefer }: Pick<Throttle, 'prefer'>): boolean {
  return prefer === 'latest';
}

export function limitsOf(scopes: readonly Scope[], now: Date): Limit[] {
  return scopes.map(({ period, campaigns }) => ({ since: new Date(now.getTime() - period), campaigns }));
}

/** A throttle that holds a request, and since when. */
export interface Hold {
  scope: Scope;
  askedAt: Date;
  /** Whose request it was, or `elsewhere`. */
  journey: string;
}

/**
 * What holds a request for the sake of the last one to this contact, by the note or the service. One that closeloop did not make
 * may have been in any campaign; others are known with their campaign (`ContactMemory.reserve`).
 */
export function holdsOfLast(last: LastAsked | undefined, scopes: readonly Scope[], now: Date): Hold[] {
  if (!last) return [];
  const counted = scopes.filter(({ campaigns }) => campaigns === undefined || last.journey === elsewhere);
  const held = counted.filter(({ period }) => last.at.getTime() + period > now.getTime());
  return held.map((scope) => ({ scope, askedAt: last.at, journey: last.journey }));
}

export function holdsOf(held: readonly HeldBy[], scopes: readonly Scope[]): Hold[] {
  return held.flatMap(({ limit, at, journey }) => {
    const scope = scopes[limit];
    return scope ? [{ scope, askedAt: at, journey }] : [];
  });
}

/** What throttles do with a request: skip it where one of them drops requests, else postpone it until all of them are over. */
export type Throttled = ({ do: 'skip' } & Skip) | { do: 'wait'; until: Date; why: string };

/** Undefined: no throttle holds the request. */
export function throttled(holds: readonly Hold[], now: Date): Throttled | undefined {
  const until = Math.max(...holds.map(({ scope, askedAt }) => askedAt.getTime() + scope.period));
  const drops = holds.filter(({ scope }) => scope.otherwise === 'drop');
  const sentences = (drops.length > 0 ? drops : holds).map((hold) => inWords(hold, now));
  if (holds.length === 0) return undefined;
  const why = sentences.join('; ');
  return drops.length > 0 ? { do: 'skip', reason: 'throttled', why } : { do: 'wait', until: new Date(until), why };
}

/**
 * What holds a request to this contact at an instant, of each throttle for the sake of the newest request: its note and what throttles
 * count may be of the same one. Reserves nothing.
 * @param last as `lastCounted` finds it; @param note of the journey that would ask
 */
export async function holdsNow(
  contactKey: string,
  rule: CampaignRule,
  { last, note }: { last: LastAsked | undefined; note: LastAsked },
  { contacts, policy }: Pick<Journeys, 'contacts'> & { policy: Throttles },
): Promise<Hold[]> {
  const scopes = scopesOf(rule, policy);
  if (scopes.length === 0) return [];
  const limits = limitsOf(scopes, note.at);
  const held = await contacts.heldBy({ contactKey, campaign: rule.campaign, note, limits });
  const holds = [...holdsOfLast(last, scopes, note.at), ...holdsOf(held, scopes)];
  return [...Map.groupBy(holds, ({ scope }) => scope).values()].flatMap(
    (some) => some.toSorted((a, b) => b.askedAt.getTime() - a.askedAt.getTime())[0] ?? [],
  );
}

/** When a request that throttles hold may be made: when they are over and the windows open, unless it is too old by then. */
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

function inWords({ scope: { name, period }, askedAt }: Hold, now: Date): string {
  const until = new Date(askedAt.getTime() + period).toISOString();
  const ago = `${Math.round((now.getTime() - askedAt.getTime()) / 8_640_000) / 10} days`;
  return `the person was asked ${ago} ago (throttle of ${name}, ${formatDuration(period)}: until ${until})`;
}
