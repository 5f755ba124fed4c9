import type { PresentedRecord } from '../../../core/connector/contract.ts';
import type { Contact } from '../../../core/contact.ts';
import { CloseloopError } from '../../../core/errors.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { countryOfPhone } from '../../../core/phone-numbers.ts';
import { formatDuration } from '../../../core/schedule/duration.ts';
import { type PlaceHints, recipientPlace } from '../../../core/schedule/recipient-place.ts';
import {
  checkWindows,
  hoursOf,
  type MessageHours,
  nextSendTime,
  type SendTime,
} from '../../../core/schedule/send-time.ts';
import { doubtsAbout } from '../../../core/schedule/window-doubts.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Skip } from '../../journey/reasons.ts';
import type { LoadedRule } from '../rules.ts';
import type { Policy } from './source-policy.ts';

type HoursContext = Pick<Policy, 'timeZone' | 'policy' | 'holidays'>;
type Windowed = Pick<LoadedRule, 'window' | 'holidays'>;

/** The parts of a source that the time of asking needs. */
export type TimingContext = HoursContext & Pick<Policy, 'serviceAddsDelay'>;

/** When to ask, or why there is no hour in which to ask. */
export type AskingTime = ({ ok: true } & SendTime) | { ok: false; why: string };

/** A journey whose customer closeloop is going to ask, with the contact. */
type Asked = Pick<Journey, 'closedAt' | 'place' | 'hurried'> & { contact: Contact };

/** The hints at where the customer is. */
export function placeOf(record: PresentedRecord, { kind, value }: Contact): PlaceHints {
  const { timeZone, country, region } = record;
  const phoneCountry = kind === 'phone' ? countryOfPhone(value) : undefined;
  return {
    ...(timeZone !== undefined && { timeZone }),
    ...(country !== undefined && { country }),
    ...(region !== undefined && { region }),
    ...(phoneCountry !== undefined && { phoneCountry }),
  };
}

/**
 * When to ask, by the rule, the campaign, the hours of text messages, holidays and the zones (core/schedule/send-time.ts). Where a
 * person hurried the journey, the delay and the rule's window are left out: the other hours always hold.
 * @param now the earliest instant to ask
 */
export function askingTime(
  rule: LoadedRule,
  campaign: Campaign,
  asked: Asked,
  context: TimingContext,
  now: Date,
): AskingTime {
  if (campaign.type === 'external')
    return { ok: true, at: now, until: undefined, why: ['nothing is sent: the campaign is external'] };
  const hours = asked.hurried ? { ...rule, window: undefined } : rule;
  try {
    const time = nextSendTime({
      ...messageHours(hours, campaign, context, asked.contact.kind === 'phone'),
      now,
      closedAt: asked.closedAt,
      delayMs: asked.hurried ? 0 : rule.delay,
      recipient: recipientPlace(asked.place ?? {}, context.timeZone),
      serviceAddsDelay: context.serviceAddsDelay,
    });
    return { ok: true, ...time };
  } catch (error) {
    // The windows never meet in this recipient's zone; the rule works for others.
    if (!(error instanceof CloseloopError && error.advice.kind === 'permanent')) throw error;
    return { ok: false, why: error.message };
  }
}

/** Why no request can ever leave within the windows of a rule and its campaign, as far as this can be known without a record. */
export function windowProblems(rule: Windowed, campaign: Campaign, context: HoursContext): string[] {
  return checkWindows(messageHours(rule, campaign, context, campaign.type === 'sms'));
}

/** Doubts whether the windows of a rule mean what the rule's writer meant. */
export function windowDoubts(rule: Windowed, campaign: Campaign, context: HoursContext) {
  if (windowProblems(rule, campaign, context).length > 0) return [];
  return doubtsAbout(messageHours(rule, campaign, context, mayText(campaign)));
}

export function mayText({ type }: Pick<Campaign, 'type'>): boolean {
  return type === 'sms' || type === 'mixed';
}

/** The settings that decide about the hours of a message, without the recipient. */
export function messageHours(
  { window, holidays }: Windowed,
  campaign: Campaign,
  { timeZone, policy, holidays: ofAccount }: HoursContext,
  isText: boolean,
): MessageHours {
  return {
    campaign: hoursOf(campaign),
    window,
    accountZone: timeZone,
    sms: isText ? policy.sms : undefined,
    holidays: holidays === 'ask' ? undefined : ofAccount,
  };
}

const hourMs = 3_600_000;
const graceMs = 72 * hourMs;

type Timed = Pick<LoadedRule, 'maxAge' | 'delay'>;
type Delayed = Pick<Campaign, 'type' | 'send_delay'>;

/**
 * Why it is too late to ask about a closing, if so. For a closing with a planned time the age of the planned time counts, as a window may rightly
 * open a week after the closing. In an external campaign a closing is never too old, as the service asks nobody there.
 * @param closing `dueAt`: the planned time, if there is one
 */
export function tooOld(
  { closedAt, dueAt }: { closedAt: Date; dueAt?: Date | undefined },
  rule: Timed,
  campaign: Delayed,
  now: Date,
): Skip | undefined {
  const { maxAge, delay } = limitsOf(rule, campaign);
  if (maxAge === false || campaign.type === 'external') return undefined;
  const [since, most] = dueAt === undefined ? [closedAt, maxAge] : [dueAt, maxAge - delay];
  const age = now.getTime() - since.getTime();
  if (age <= Math.max(0, most)) return undefined;
  const what = dueAt === undefined ? `closed ${inHours(age)} ago` : `${inHours(age)} later than planned`;
  return { reason: 'too-old', why: `too old to ask: ${what} (maxAge ${formatDuration(maxAge)})` };
}

/** Problems of a rule that would never ask, because every closing is too old when its delay has passed. */
export function maxAgeProblems(rule: Timed, campaign: Delayed): string[] {
  const { maxAge, delay } = limitsOf(rule, campaign);
  if (maxAge === false || maxAge > delay || campaign.type === 'external') return [];
  return [
    `maxAge (${formatDuration(maxAge)}) must be longer than the delay (${formatDuration(delay)}): each closing would be too old to ask about`,
  ];
}

function limitsOf(rule: Timed, campaign: Delayed): { maxAge: number | false; delay: number } {
  const delay = rule.delay ?? (campaign.send_delay ?? 0) * 60_000;
  return { maxAge: rule.maxAge ?? delay + graceMs, delay };
}

function inHours(ms: number): string {
  return formatDuration(ms < hourMs ? ms : Math.floor(ms / hourMs) * hourMs);
}
