import { type Contact, contactKey } from '../../../core/contact.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import type { Journey } from '../../journey/journey.ts';
import { mayHaveAsked } from '../../journey/outcomes.ts';
import type { Skip } from '../../journey/reasons.ts';
import { markOf, refOf } from '../../journey/refs.ts';
import type { JourneyStore } from '../../journey/store.ts';
import type { WaitingClosing } from '../../journey/waiting-closings.ts';
import { tooOld } from '../policy/asking-time.ts';
import { limitsOf, prefersLatest, scopesOf, type ThrottleHit } from '../policy/throttle.ts';
import { chosenBefore, isLater } from '../policy/throttled.ts';
import type { CampaignRule } from '../rules.ts';
import type { AskContext } from './ask-steps.ts';

// Throttles with `prefer: latest`. An earlier closing doesn't end because a later closing waits: the earlier closing waits, too,
// until closeloop has asked about the later closing, or the later closing has ended without asking. So nothing ever has to be undone.

export type PreferContext = Pick<
  AskContext,
  'name' | 'storedAs' | 'account' | 'policy' | 'contacts' | 'clock' | 'sources'
>;

/** A closing no longer waits for a later closing that has been due for this long without being asked about. Time of the loop's clock. */
const overdueMs = 3_600_000;

/** A later closing of the person, to which an earlier closing gives way. */
export interface LaterClosing {
  /** When closeloop is going to ask about the later closing, by the present plan. */
  dueAt: Date;
  why: string;
}

/** The later closing that this journey, which is due, gives way to. Changes no journey; brings the notes of closings that wait up to date. */
export async function laterClosing(
  journey: Journey & { contact: Contact },
  rule: CampaignRule,
  campaign: Campaign,
  context: PreferContext,
): Promise<LaterClosing | undefined> {
  // An earlier attempt may have made a request: closeloop finds out first.
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
  // A throttle holds this journey already: the journey ends, or is postponed, at its turn to ask.
  const limits = limitsOf(scopes, now);
  const reservation = { contactKey: key, campaign: rule.campaign, note: { at: now, journey: mark }, limits };
  if ((await context.contacts.heldBy(reservation)).length > 0) return undefined;
  const live = await stillWaiting(others, key, context);
  for (const { campaigns, name } of scopes) {
    const counted = live.filter((one) => campaigns?.has(one.campaign) !== false);
    const chosen = chosenBefore<WaitingClosing & { of?: Journey }>(own, counted);
    if (chosen?.of === undefined) continue;
    const { dueAt: at = chosen.dueAt, source, id } = chosen.of;
    // The later closing was postponed for longer than this journey may wait, or makes no progress: its source is paused, or gone.
    if (tooOld({ closedAt, dueAt: chosen.dueAt }, rule, campaign, at)) continue;
    if (now.getTime() - at.getTime() > overdueMs) continue;
    const why = `waits for a later closing of the person: journey ${refOf(source, id)} (throttle of ${name} prefers the latest)`;
    return { dueAt: at, why };
  }
  return undefined;
}

/**
 * The closings of the person that are noted as waiting. Closings that were planned while no throttle preferred the latest are noted first: they are
 * found by the same identifiers of the customer that an erasure uses. A note holds the journey's present time.
 */
async function closingsThatWait(
  journey: Journey & { contact: Contact },
  key: string,
  context: PreferContext,
): Promise<WaitingClosing[]> {
  const noted = await context.contacts.waits.of(key);
  const marks = new Set(noted.map((one) => one.journey));
  for (const one of await journeysOfPerson(journey, key, context)) {
    const { state, campaign, closedAt, dueAt } = one;
    const mark = markOf(one);
    if (state !== 'waiting' || campaign === undefined || dueAt === undefined || marks.has(mark)) continue;
    const closing = { journey: mark, campaign, closedAt, dueAt };
    marks.add(mark);
    await context.contacts.waits.note(key, closing);
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
  const digests = new Set([...(await contacts.waits.linkedWith(key)), ...alsoKnownAs]);
  // No journey waits for a journey that can't be read.
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

/** The noted closings that still wait, with their journeys. Notes may be out of date: only the journeys say which closings wait. */
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
  await context.contacts.waits.settle(
    key,
    gone.map(({ journey }) => journey),
  );
  return live;
}

function isComing({ state, test }: Journey): boolean {
  return state === 'received' || state === 'waiting' || (state === 'creating' && test === undefined);
}

/** Why the journey ends for good where a throttle that prefers the latest closing holds it because of a later closing. */
export async function supersededBy(
  journey: Journey,
  hits: readonly ThrottleHit[],
  context: Pick<PreferContext, 'sources'>,
): Promise<Skip | undefined> {
  const preferring = hits.filter(({ scope }) => prefersLatest(scope));
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

/** The journey with this mark (`markOf`), in any of the sources. */
async function journeyMarked(mark: string, sources: readonly { store: JourneyStore }[]): Promise<Journey | undefined> {
  const id = mark.slice(mark.indexOf('/') + 1);
  for (const { store } of sources) {
    const journey = await store.get(id);
    if (journey && markOf(journey) === mark) return journey;
  }
  return undefined;
}
