import { type Contact, contactKey } from '../../../core/contact.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import type { WaitingClosing } from '../../journey/contacts.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Skip } from '../../journey/reasons.ts';
import { markOf, refOf } from '../../journey/refs.ts';
import { mayHaveAsked } from '../../journey/transitions.ts';
import type { Journeys, Policy, Timing } from '../context.ts';
import { tooOld } from '../plan/asking-time.ts';
import type { CampaignRule } from '../rules.ts';
import { type Hold, limitsOf, prefersLatest, scopesOf } from './throttle.ts';

// Throttles with `prefer: latest`. An earlier closing doesn't end for the sake of a later one that waits: it waits, too, until that was
// asked about, or came to nothing. So nothing has to be taken back, whatever happens in between.

type PreferContext = Pick<Policy, 'policy'> & Pick<Journeys, 'contacts' | 'sources'> & Pick<Timing, 'clock'>;

/** Nobody waits for a closing that is due for as long and was not asked about. Of the loop's clock. */
const overdueMs = 3_600_000;

/** A later closing of the person, to which an earlier one gives way. */
export interface LaterClosing {
  /** When it is to be asked about, as things stand. */
  dueAt: Date;
  why: string;
}

/**
 * The closing to ask about in place of this one, of those of one person that wait: the last that was closed until the first of them
 * was due. Later ones don't count, or a person with a closing every day would never be asked. Pure.
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

/** Of two closings of one instant the name decides, so that both find the same. */
function isLater(one: WaitingClosing, other: WaitingClosing): boolean {
  const byMs = one.closedAt.getTime() - other.closedAt.getTime();
  return byMs > 0 || (byMs === 0 && one.journey > other.journey);
}

/** What this journey, which is due, gives way to. Reads only. */
export async function laterClosing(
  journey: Journey & { contact: Contact },
  rule: CampaignRule,
  campaign: Campaign,
  context: PreferContext,
): Promise<LaterClosing | undefined> {
  const scopes = rule.test ? [] : scopesOf(rule, context.policy).filter(prefersLatest);
  if (scopes.length === 0) return undefined;
  const key = contactKey(journey.contact);
  const noted = await context.contacts.waiting(key);
  const mark = markOf(journey);
  const now = context.clock.now();
  const { closedAt, dueAt = closedAt } = journey;
  const own = noted.find((one) => one.journey === mark) ?? { journey: mark, campaign: rule.campaign, closedAt, dueAt };
  const others = noted.filter((one) => one.journey !== mark);
  if (!others.some((one) => isLater(one, own))) return undefined;
  // Held already: it ends, or is put off, when it comes to ask.
  const limits = limitsOf(scopes, now);
  const reservation = { contactKey: key, campaign: rule.campaign, note: { at: now, journey: mark }, limits };
  if ((await context.contacts.heldBy(reservation)).length > 0) return undefined;
  const live = await stillWaiting(others, key, context);
  for (const { campaigns, name } of scopes) {
    const counted = live.filter((one) => campaigns?.has(one.campaign) !== false);
    const chosen = chosenBefore<WaitingClosing & { of?: Journey }>(own, counted);
    if (chosen?.of === undefined) continue;
    const { dueAt: at = chosen.dueAt, source, id } = chosen.of;
    // It was put off for longer than this one may wait for it, or does not get on: its source is paused, or gone.
    if (tooOld({ closedAt, dueAt: chosen.dueAt }, rule, campaign, at)) continue;
    if (now.getTime() - at.getTime() > overdueMs) continue;
    const why = `waits for a later closing of the person: journey ${refOf(source, id)} (throttle of ${name} prefers the latest)`;
    return { dueAt: at, why };
  }
  return undefined;
}

/** With their journeys. What is noted may be out of date: the journeys say what waits. */
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

/** The journey that `markOf` names so, in whichever source it is by now. */
async function journeyMarked(mark: string, sources: readonly Pick<Journeys, 'store'>[]): Promise<Journey | undefined> {
  const id = mark.slice(mark.indexOf('/') + 1);
  for (const { store } of sources) {
    const journey = await store.get(id);
    if (journey && markOf(journey) === mark) return journey;
  }
  return undefined;
}
