import type { Contact } from '../../../core/contact.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { formatDuration } from '../../../core/schedule/duration.ts';
import type { Journey } from '../../journey/journey.ts';
import { elsewhere } from '../../journey/last-asked.ts';
import type { Skip } from '../../journey/reasons.ts';
import type { WaitingClosing } from '../../journey/waiting-closings.ts';
import type { CampaignRule } from '../rules.ts';
import { askingTime, type TimingContext, tooOld } from './asking-time.ts';
import type { ThrottleHit } from './throttle.ts';

/** The effect of throttles on a request: it is skipped where any of the throttles drops requests, else postponed until all throttles end. */
export type Throttled = ({ do: 'skip' } & Skip) | { do: 'wait'; until: Date; why: string };

/** The effect of these throttles on a request; undefined where no throttle holds the request. @param now the present, not the time of the request */
export function throttled(hits: readonly ThrottleHit[], now: Date): Throttled | undefined {
  const until = Math.max(...hits.map(({ scope, askedAt }) => askedAt.getTime() + scope.period));
  const drops = hits.filter(({ scope }) => scope.otherwise === 'drop');
  const sentences = (drops.length > 0 ? drops : hits).map((hit) => inWords(hit, now));
  if (hits.length === 0) return undefined;
  const why = sentences.join('; ');
  return drops.length > 0 ? { do: 'skip', reason: 'throttled', why } : { do: 'wait', until: new Date(until), why };
}

/** When a request that throttles hold may be made: once the throttles have ended and the windows are open, unless the closing is too old by then. */
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

/** Stored in traces, so it has to stay true: no age, and no address. `now` tells whether that request has left. */
function inWords({ scope: { name, period }, askedAt, journey, byOther }: ThrottleHit, now: Date): string {
  const until = new Date(askedAt.getTime() + period).toISOString();
  const asked = `${askedAt > now ? 'will be' : 'was'} asked at ${askedAt.toISOString()}`;
  const by = journey === elsewhere ? 'by a request that only the service knows' : `journey ${journey}`;
  const at = byOther ? ', at another of their addresses' : '';
  return `the person ${asked} (${by}${at}; throttle of ${name}, ${formatDuration(period)}: until ${until})`;
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

/** Whether a closing counts as later. At the same instant the journey's name decides, so that both journeys find the same closing. */
export function isLater(one: WaitingClosing, other: WaitingClosing): boolean {
  const byMs = one.closedAt.getTime() - other.closedAt.getTime();
  return byMs > 0 || (byMs === 0 && one.journey > other.journey);
}
