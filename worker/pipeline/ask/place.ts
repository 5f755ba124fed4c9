import type { Contact } from '../../../core/contact.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { hourOf, lengthOf, openDay } from '../../../core/schedule/open-hours.ts';
import type { CapScope } from '../../journey/cap-slots.ts';
import type { Journey } from '../../journey/journey.ts';
import { markOf } from '../../journey/refs.ts';
import { askingTime, type TimingContext } from '../policy/asking-time.ts';
import { inTime, type Turn, turnIn } from '../policy/cap.ts';
import type { CampaignRule } from '../rules.ts';
import type { AskContext } from './ask-steps.ts';

/** How many days ahead closeloop searches for a free slot. */
const mostDays = 15;

/** Takes a slot for the journey under every one of these caps, unless the journey has a slot. */
export async function takePlace(
  journey: Journey & { contact: Contact },
  rule: CampaignRule,
  campaign: Campaign,
  scopes: readonly CapScope[],
  context: TimingContext & Pick<AskContext, 'caps' | 'clock'>,
): Promise<Turn> {
  const { timeZone, clock, caps } = context;
  const now = clock.now().getTime();
  // A postponed journey keeps its slot until the end of the hour that it was postponed to.
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
      return inTime(turnIn({ ...slot, fullBefore }, scopes, day, now, timeZone), journey, rule, campaign);
    const next = opensAt(day.until);
    if (!Number.isFinite(next)) break;
    day = openDay(next, timeZone, opensAt);
  }
  const why = `caps are reached on every day of the next two weeks: ${scopes.map(({ name }) => name).join(', ')}`;
  return { do: 'skip', reason: 'capped', why };
}
