import type { Campaign } from '../../../core/feedback/schemas.ts';
import { clockText, type OpenDay, slotAt } from '../../../core/schedule/open-hours.ts';
import type { CapScope, Slot } from '../../journey/cap-slots.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Skip } from '../../journey/reasons.ts';
import type { CampaignRule } from '../rules.ts';
import { tooOld } from './asking-time.ts';

/** When the caps let a due journey ask: now, later, or never. */
export type Turn = { do: 'ask' } | { do: 'wait'; at: Date; why: string[] } | ({ do: 'skip' } & Skip);

/** The turn of a journey that has slots under the caps: slots are spread evenly over the day, and over the hour. */
export function turnIn(
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

export function inWords({ name, hour, day }: CapScope): string {
  const parts = [...(hour === undefined ? [] : [`${hour} an hour`]), ...(day === undefined ? [] : [`${day} a day`])];
  return `cap of ${parts.join(' and ')} of ${name}`;
}

/** Skips a closing that would be too old when its turn comes. */
export function inTime(turn: Turn, { closedAt, backfilled }: Journey, rule: CampaignRule, campaign: Campaign): Turn {
  if (turn.do !== 'wait' || backfilled) return turn;
  const old = tooOld({ closedAt }, rule, campaign, turn.at);
  return old ? { do: 'skip', ...old, why: `${turn.why.join('; ')}, and would be ${old.why} then` } : turn;
}
