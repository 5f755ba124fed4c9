import { type Contact, contactKey } from '../../../core/contact.ts';
import type { Campaign, ContactRecord } from '../../../core/feedback/schemas.ts';
import { formatDuration } from '../../../core/schedule/duration.ts';
import { policiesOf } from '../../config/campaign-policy.ts';
import type { Policy } from '../../config/policy.ts';
import type { Throttle } from '../../config/throttle.ts';
import {
  asEarlier,
  beforeThat,
  elsewhere,
  type HeldBy,
  type LastAsked,
  type Limit,
  type WaitingClosing,
} from '../../journey/contacts.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Skip } from '../../journey/reasons.ts';
import { markOf, refOf } from '../../journey/refs.ts';
import { mayHaveAsked } from '../../journey/transitions.ts';
import type { Journeys, Named, Policy as SourcePolicy, Timing } from '../context.ts';
import { askingTime, type TimingContext, tooOld } from '../policy/asking-time.ts';
import type { CampaignRule } from '../rules.ts';
import { clockSkewMs } from './find-request.ts';

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
export interface Hold {
  scope: Scope;
  askedAt: Date;
  /** The journey of that request, or `elsewhere`. */
  journey: string;
}

/**
 * What holds a request for the sake of the last request to this contact, by the note or by the service. A request that closeloop did not
 * make may have been in any campaign; all that closeloop has made to the person, at any address, count as well (`ContactMemory.reserve`).
 */
export function holdsOfLast(last: LastAsked | undefined, scopes: readonly Scope[], now: Date): Hold[] {
  if (!last) return [];
  const { campaign, journey } = last;
  const counted = scopes.filter(
    ({ campaigns }) =>
      campaigns === undefined || journey === elsewhere || (campaign !== undefined && campaigns.has(campaign)),
  );
  const held = counted.filter(({ period }) => last.at.getTime() + period > now.getTime());
  return held.map((scope) => ({ scope, askedAt: last.at, journey: last.journey }));
}

export function holdsOf(held: readonly HeldBy[], scopes: readonly Scope[]): Hold[] {
  return held.flatMap(({ limit, at, journey }) => {
    const scope = scopes[limit];
    return scope ? [{ scope, askedAt: at, journey }] : [];
  });
}

/** What throttles do with a request: skip the request where one throttle drops requests, else postpone the request until all throttles are over. */
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
 * What holds a request to this contact at an instant, of each throttle for the sake of the newest request: the contact's note and what
 * throttles count may be the same request. Reserves nothing.
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

function inWords({ scope: { name, period }, askedAt }: Hold, now: Date): string {
  const until = new Date(askedAt.getTime() + period).toISOString();
  const ago = `${Math.round((now.getTime() - askedAt.getTime()) / 8_640_000) / 10} days`;
  return `the person was asked ${ago} ago (throttle of ${name}, ${formatDuration(period)}: until ${until})`;
}

// Throttles with `prefer: latest`. An earlier closing doesn't end for the sake of a later closing that waits: the earlier closing waits, too,
// until the later closing was asked about, or came to nothing. So nothing has to be taken back, whatever happens in between.

type PreferContext = Named &
  Pick<SourcePolicy, 'policy'> &
  Pick<Journeys, 'contacts' | 'sources'> &
  Pick<Timing, 'clock'>;

/** No closing waits for a later closing that has been due for so long and was not asked about. Of the loop's clock. */
const overdueMs = 3_600_000;

/** A later closing of the person, to which an earlier closing gives way. */
export interface LaterClosing {
  /** When the later closing is to be asked about, as things stand. */
  dueAt: Date;
  why: string;
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
function isLater(one: WaitingClosing, other: WaitingClosing): boolean {
  const byMs = one.closedAt.getTime() - other.closedAt.getTime();
  return byMs > 0 || (byMs === 0 && one.journey > other.journey);
}

/** The later closing that this journey, which is due, gives way to. Changes no journey; brings the notes of closings that wait up to date. */
export async function laterClosing(
  journey: Journey & { contact: Contact },
  rule: CampaignRule,
  campaign: Campaign,
  context: PreferContext,
): Promise<LaterClosing | undefined> {
  if (!context.contacts.comparesWaiting) return undefined;
  // A request may have come of it: that is found out first.
  if (journey.searched) return undefined;
  const scopes = rule.test ? [] : scopesOf(rule, context.policy).filter(prefersLatest);
  if (scopes.length === 0) return undefined;
  const key = contactKey(journey.contact);
  const noted = await closingsThatWait(journey, key, context);
  const mark = markOf(journey);
  const now = context.clock.now();
  const { closedAt, dueAt = closedAt } = journey;
  const own = noted.find((one) => one.journey === mark) ?? { journey: mark, campaign: rule.campaign, closedAt, dueAt };
  const others = noted.filter((one) => one.journey !== mark && !one.isTest);
  if (!others.some((one) => isLater(one, own))) return undefined;
  // A throttle holds this journey already: the journey ends, or is postponed, when it comes to ask.
  const limits = limitsOf(scopes, now);
  const reservation = { contactKey: key, campaign: rule.campaign, note: { at: now, journey: mark }, limits };
  if ((await context.contacts.heldBy(reservation)).length > 0) return undefined;
  const live = await stillWaiting(others, key, context);
  for (const { campaigns, name } of scopes) {
    const counted = live.filter((one) => campaigns?.has(one.campaign) !== false);
    const chosen = chosenBefore<WaitingClosing & { of?: Journey }>(own, counted);
    if (chosen?.of === undefined) continue;
    const { dueAt: at = chosen.dueAt, source, id } = chosen.of;
    // The later closing was postponed for longer than this journey may wait, or does not get on: its source is paused, or gone.
    if (tooOld({ closedAt, dueAt: chosen.dueAt }, rule, campaign, at)) continue;
    if (now.getTime() - at.getTime() > overdueMs) continue;
    const why = `waits for a later closing of the person: journey ${refOf(source, id)} (throttle of ${name} prefers the latest)`;
    return { dueAt: at, why };
  }
  return undefined;
}

/**
 * The closings of the person that are noted as waiting, after noting those that were planned while no throttle preferred the latest. They are
 * found as an erasure finds them, by what the journey's customer is known by; a note keeps the time that the journey has now.
 */
async function closingsThatWait(
  journey: Journey & { contact: Contact },
  key: string,
  context: PreferContext,
): Promise<WaitingClosing[]> {
  const noted = await context.contacts.waiting(key);
  const marks = new Set(noted.map((one) => one.journey));
  for (const one of await journeysOfPerson(journey, key, context)) {
    const { state, campaign, closedAt, dueAt } = one;
    const mark = markOf(one);
    if (state !== 'waiting' || campaign === undefined || dueAt === undefined || marks.has(mark)) continue;
    const closing = { journey: mark, campaign, closedAt, dueAt };
    marks.add(mark);
    await context.contacts.noteWaiting(key, closing);
    noted.push(closing);
  }
  return noted;
}

/** The journeys of a journey's person in all sources, by any address, or by the vendor's id in sources of the same account. */
async function journeysOfPerson(
  { alsoKnownAs = [], personId }: Journey,
  key: string,
  { name, account, contacts, sources }: PreferContext,
): Promise<Journey[]> {
  const digests = new Set([...(await contacts.linkedWith(key)), ...alsoKnownAs]);
  // What can't be read is nothing to wait for.
  const left = () => undefined;
  const found = await Promise.all(
    (await sources()).map(async ({ store: { queries }, ...of }) => {
      const isTheirs = of.name === name || (account !== undefined && of.account === account);
      const who = [...digests].map((digest) => ({ digest }));
      const byId = personId !== undefined && isTheirs ? [{ personId }] : [];
      return await Promise.all([...who, ...byId].map((one) => queries.knownBy(one, left)));
    }),
  );
  return found.flat(2);
}

/** The noted closings that still wait, with their journeys. Notes may be out of date: the journeys say what waits. */
async function stillWaiting(
  noted: readonly WaitingClosing[],
  key: string,
  context: PreferContext,
): Promise<(WaitingClosing & { of: Journey })[]> {
  const sources = await context.sources();
  const found = await Promise.all(
    noted.map(async (one) => ({ ...one, of: await journeyMarked(one.journey, sources) })),
  );
  const live = found.flatMap(({ of, ...one }) => (of && isComing(of) ? [{ ...one, of }] : []));
  const gone = noted.filter(({ journey }) => !live.some((one) => one.journey === journey));
  await context.contacts.noteSettled(
    key,
    gone.map(({ journey }) => journey),
  );
  return live;
}

function isComing({ state, test }: Journey): boolean {
  return state === 'received' || state === 'waiting' || (state === 'creating' && test === undefined);
}

/** Why the journey ends for good where a throttle that prefers the latest holds it for the sake of a later closing. */
export async function supersededBy(
  journey: Journey,
  holds: readonly Hold[],
  context: Pick<Journeys, 'sources'>,
): Promise<Skip | undefined> {
  const preferring = holds.filter(({ scope }) => prefersLatest(scope));
  const sources = preferring.length > 0 ? await context.sources() : [];
  for (const { scope, journey: mark } of preferring) {
    const asked = await journeyMarked(mark, sources);
    if (asked && mayHaveAsked(asked) && asked.closedAt > journey.closedAt) {
      const why = `a later closing of the person was asked about: journey ${refOf(asked.source, asked.id)} (throttle of ${scope.name} prefers the latest)`;
      return { reason: 'superseded', why };
    }
  }
  return undefined;
}

/** The journey with this mark (`markOf`), in whichever source the journey is by now. */
async function journeyMarked(mark: string, sources: readonly Pick<Journeys, 'store'>[]): Promise<Journey | undefined> {
  const id = mark.slice(mark.indexOf('/') + 1);
  for (const { store } of sources) {
    const journey = await store.get(id);
    if (journey && markOf(journey) === mark) return journey;
  }
  return undefined;
}
