import type { Contact } from '../../../core/contact.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { clockText, hourOf, type OpenDay, openDay } from '../../../core/schedule/open-hours.ts';
import { lengthOf, slotAt } from '../../../core/schedule/slots.ts';
import { policiesOf } from '../../config/campaign-policy.ts';
import type { Policy as PolicySettings } from '../../config/policy.ts';
import type { CapScope, Slot } from '../../journey/cap-slots.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Skip } from '../../journey/reasons.ts';
import { markOf } from '../../journey/refs.ts';
import type { Journeys, Named, Timing } from '../context.ts';
import { askingTime, type TimingContext, tooOld } from '../policy/asking-time.ts';
import type { CampaignRule } from '../rules.ts';

/** How many days ahead a free place is searched for. */
const mostDays = 15;

/** Every cap that a request of this rule has to keep to. @param source the name that its data is stored under: a rename begins no new count */
export function capsOf(source: string, rule: CampaignRule, policy: PolicySettings): CapScope[] {
  const { name, cap, campaign } = rule;
  return [
    ...(cap ? [{ ...cap, name: `rule "${name}" of ${source}` }] : []),
    ...policiesOf(campaign, policy).flatMap(({ name: of, cap: theirs }) => (theirs ? [{ ...theirs, name: of }] : [])),
    ...(policy.cap ? [{ ...policy.cap, name: 'policy' }] : []),
  ];
}

/** The caps under which a request takes a place: a test takes no place from customers, and in an external campaign nobody is asked. */
function capsOn(source: string, rule: CampaignRule, { type }: Campaign, policy: PolicySettings): CapScope[] {
  return rule.test || type === 'external' ? [] : capsOf(source, rule, policy);
}

export type CapContext = TimingContext & Pick<Named, 'storedAs'> & Pick<Journeys, 'caps'> & Pick<Timing, 'clock'>;

/** When a journey that is due may ask by the caps: now, or later, or never. */
export type Turn = { do: 'ask' } | { do: 'wait'; at: Date; why: string[] } | ({ do: 'skip' } & Skip);

/** Takes a place for the journey under every cap, unless it has one. */
export async function takeTurn(
  journey: Journey & { contact: Contact },
  rule: CampaignRule,
  campaign: Campaign,
  context: CapContext,
): Promise<Turn> {
  const scopes = capsOn(context.storedAs, rule, campaign, context.policy);
  // A place that was taken before test mode held is a customer's.
  if (rule.test) await giveTurnBack(journey, context);
  if (scopes.length === 0) return { do: 'ask' };
  const { timeZone, clock, caps } = context;
  const now = clock.now().getTime();
  // A journey that was postponed keeps its place until the hour that it was postponed to is over.
  const dueAt = Math.max(now, journey.dueAt?.getTime() ?? now);
  const opensAt = (at: number) => {
    const time = askingTime(rule, campaign, { ...journey, closedAt: new Date(0) }, context, new Date(at));
    return time.ok ? time.at.getTime() : Number.POSITIVE_INFINITY;
  };
  let day = openDay(now, timeZone, opensAt);
  const keeps = { keeps: hourOf(dueAt, timeZone), since: day.from };
  let fullBefore: CapScope | undefined;
  for (let n = 0; n < mostDays; n++) {
    const candidates = day.hours.flatMap(({ hour, open, openMsThen }) =>
      open.until > now
        ? [{ hour, openMsThen, openMs: lengthOf(day.open), dayFrom: day.from, dayUntil: day.until }]
        : [],
    );
    const slot = await caps.take(markOf(journey), scopes, keeps, candidates);
    if (slot.is === 'kept') return dueAt > now ? { do: 'wait', at: new Date(dueAt), why: [] } : { do: 'ask' };
    fullBefore = (slot.is === 'new' ? slot.fullBefore : slot.full) ?? fullBefore;
    if (slot.is === 'new')
      return inTime(turnOf({ ...slot, fullBefore }, scopes, day, now, timeZone), journey, rule, campaign);
    const next = opensAt(day.until);
    if (!Number.isFinite(next)) break;
    day = openDay(next, timeZone, opensAt);
  }
  const why = `caps are reached on every day of the next two weeks: ${scopes.map(({ name }) => name).join(', ')}`;
  return { do: 'skip', reason: 'capped', why };
}

/** What is known of the caps before a request is due, for a preview: places are taken only then. */
export async function capsAhead(
  rule: CampaignRule,
  campaign: Campaign,
  dueAt: Date,
  { storedAs, policy, timeZone, caps }: Pick<CapContext, 'storedAs' | 'policy' | 'timeZone' | 'caps'>,
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

/** Skips a closing that would be too old by its turn. */
function inTime(turn: Turn, { closedAt, backfilled }: Journey, rule: CampaignRule, campaign: Campaign): Turn {
  if (turn.do !== 'wait' || backfilled) return turn;
  const old = tooOld({ closedAt }, rule, campaign, turn.at);
  return old ? { do: 'skip', ...old, why: `${turn.why.join('; ')}, and would be ${old.why} then` } : turn;
}

/** Gives back the places of a journey that asks nobody, or not at this time: every place that it has, whatever the configuration says by now. */
export async function giveTurnBack(journey: Journey, { caps }: Pick<Journeys, 'caps'>): Promise<void> {
  await caps.giveBack(markOf(journey));
}

/** The instant of a place: the n-th of the slots that are spread over the day, and over the hour. */
function turnOf(
  { hour, places, fullBefore }: Extract<Slot, { is: 'new' }>,
  scopes: readonly CapScope[],
  day: OpenDay,
  now: number,
  zone: string,
): Turn {
  const open = day.hours.find((one) => one.hour === hour)?.open ?? { from: hour, until: hour };
  let [at, by]: [number, CapScope | undefined] = [Math.max(now, open.from), fullBefore];
  for (const [i, scope] of scopes.entries()) {
    const { ofDay = 0, ofHour = 0 } = places[i] ?? {};
    const slots = [
      scope.day === undefined ? undefined : slotAt(ofDay, scope.day, day.open),
      scope.hour === undefined ? undefined : slotAt(ofHour, scope.hour, [open]),
    ];
    for (const slot of slots) if (slot !== undefined && slot > at) [at, by] = [slot, scope];
  }
  if (at <= now) return { do: 'ask' };
  const moved = `moved from ${clockText(now, zone)} to ${clockText(at, zone, now)}`;
  return { do: 'wait', at: new Date(at), why: [by ? `${inWords(by)}: ${moved}` : moved] };
}

function inWords({ name, hour, day }: CapScope): string {
  const parts = [...(hour === undefined ? [] : [`${hour} an hour`]), ...(day === undefined ? [] : [`${day} a day`])];
  return `cap of ${parts.join(' and ')} of ${name}`;
}
