import { CloseloopError, neverSent } from '../errors.ts';
import { days } from './days.ts';
import { formatDuration } from './duration.ts';
import { type HolidayRules, holidaysOf, workdays } from './holidays.ts';
import { type RecipientPlace, recipientPlace } from './recipient-place.ts';
import { firstClosing, firstOpening, type Hours, meet, type SendWindow, windowOf } from './send-window.ts';
import { dayMs, isZone, wallTime, weekdayOf } from './wall-clock.ts';

/** A campaign's own hours and delay, as the service gives them (specification, section 2). They always hold. */
export interface CampaignHours {
  /** The campaign's id, for the trace. */
  id?: number | undefined;
  /** `HH:MM:SS` in the account's zone, half-open; always open where both times are equal. */
  sendFrom: string;
  sendUntil: string;
  sendDelayMinutes: number | null;
}

/** Reads the hours from a campaign, in the service's words. */
export function hoursOf(campaign: {
  id: number;
  send_from: string;
  send_until: string;
  send_delay: number | null;
}): CampaignHours {
  const { id, send_from, send_until, send_delay } = campaign;
  return { id, sendFrom: send_from, sendUntil: send_until, sendDelayMinutes: send_delay };
}

/** A rule's narrower hours. */
export interface RuleWindow extends Hours {
  zone: 'account' | 'recipient';
}

/** All hours that decide when a message may go out: a message goes out only when every part allows it. */
export interface MessageHours {
  campaign: CampaignHours;
  /** IANA name. */
  accountZone: string;
  window?: RuleWindow | undefined;
  /** Left out: the recipient's place is not known, and the account's zone is used. */
  recipient?: RecipientPlace | undefined;
  /** For a text message only: hours that no other setting extends, in every zone that may be the recipient's. */
  sms?: Hours | undefined;
  /** Given where no message may go out on a public holiday of the recipient's country. */
  holidays?: HolidayRules | undefined;
}

export interface SendTimeInput extends MessageHours {
  now: Date;
  closedAt: Date;
  /** The rule's delay from the closing to the message; undefined: the campaign's delay. */
  delayMs: number | undefined;
  /**
   * The create operation can't carry a date, so the service waits for the campaign's delay after the request is made.
   * Then `at` is earlier than the message by this delay, and the time of the message keeps to the windows.
   */
  serviceAddsDelay?: boolean | undefined;
}

export interface SendTime {
  at: Date;
  /** The first instant after `at` at which a request would come too late for these windows; undefined: not within four weeks. */
  until: Date | undefined;
  /** Sentences for the trace. */
  why: string[];
}

/**
 * When to make the request: the earliest instant that is not before `now`, not before the delay is over, and inside all
 * windows of the message. A repetition with `now` = `at` gives `at` again.
 * @throws CloseloopError config when the windows are never open together within 29 days, or an hour, a day list or
 *   the account's zone is wrong; permanent when the windows are never open together only for this recipient
 */
export function nextSendTime(input: SendTimeInput): SendTime {
  const { windows, why } = messageWindows(input);
  const campaignDelayMs = (input.campaign.sendDelayMinutes ?? 0) * 60_000;
  const serviceMs = input.serviceAddsDelay === true ? campaignDelayMs : 0;
  const delayMs = input.delayMs ?? campaignDelayMs;
  const due = input.closedAt.getTime() + delayMs;
  const earliest = Math.ceil(Math.max(input.now.getTime() + serviceMs, due));

  if (delayMs > 0) {
    const whose = input.delayMs === undefined ? "the campaign's" : "the rule's";
    why.unshift(
      `${whose} delay of ${formatDuration(delayMs)} ends ${inWords(due, input.accountZone)} ${input.accountZone}`,
    );
  }
  const { at, closed } = firstOpening(windows, earliest) ?? never(input, windows);
  for (const [window, { opens, holiday }] of closed) {
    // The name of a window has its zone.
    const until = `${inWords(opens, window.zone)}${holiday === undefined ? '' : ` ${window.zone}`}`;
    why.push(`${holiday ?? window.name}; closed until ${until}`);
  }
  if (serviceMs > 0) {
    why.push(
      `the service itself waits ${formatDuration(serviceMs)} after the request: message ${inWords(at, input.accountZone)} ${input.accountZone}`,
    );
  }
  const closes = firstClosing(windows, at);
  const until = closes === undefined ? undefined : new Date(closes - serviceMs);
  return { at: new Date(at - serviceMs), until, why };
}

/** The windows that are all open when a message goes out; `why`: for the trace. @throws CloseloopError config */
export function messageWindows(hours: MessageHours): { windows: [SendWindow, ...SendWindow[]]; why: string[] } {
  const { campaign, window, accountZone, sms, holidays } = hours;
  if (!isZone(accountZone))
    throw neverSent(`feedback.timeZone: "${accountZone}" is not a time zone like Europe/Tallinn`);
  const { zone, zones, why } = hours.recipient ?? recipientPlace({}, accountZone);
  const campaignName = `campaign${campaign.id === undefined ? '' : ` ${campaign.id}`} sends`;
  const ofCampaign = windowOf(campaignName, { from: campaign.sendFrom, until: campaign.sendUntil }, accountZone);
  const windows: [SendWindow, ...SendWindow[]] = [ofCampaign];
  if (window !== undefined)
    windows.push(windowOf('the rule sends', window, window.zone === 'recipient' ? zone : accountZone));
  if (sms !== undefined) windows.push(...zones.map((one) => windowOf('text messages go out', sms, one)));
  const calendar = holidays && holidaysOf(hours.recipient, holidays);
  const free = calendar?.found;
  if (free) windows.push(...zones.map((one) => workdays(one, free)));

  const isOfRecipient = window?.zone === 'recipient' || sms !== undefined || holidays !== undefined;
  return { windows, why: [...(isOfRecipient ? [why] : []), ...(calendar?.why ?? [])] };
}

function never({ sms, holidays }: MessageHours, windows: readonly SendWindow[]): never {
  // Perhaps only this recipient's clock or calendar leaves no hour: then the source must not stop.
  const isOfRecipient =
    sms !== undefined || holidays !== undefined || new Set(windows.map(({ zone }) => zone)).size > 1;
  const kind = isOfRecipient ? 'permanent' : 'config';
  throw neverSent(neverTogether(windows), kind);
}

function neverTogether(windows: readonly SendWindow[]): string {
  const names = windows.map(({ name }) => name).join(', and ');
  return `${names}: never open together. Change the rule's window, or the campaign's hours`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** "Mon 23 Nov 09:00", on the wall clock of `zone`. */
function inWords(epochMs: number, zone: string): string {
  const { date, ms } = wallTime(zone, epochMs);
  const onWall = new Date(date * dayMs + ms);
  const day = days[weekdayOf(date) - 1] ?? '';
  const time = onWall.toISOString().slice(11, onWall.getUTCSeconds() === 0 ? 16 : 19);
  return `${day.charAt(0).toUpperCase()}${day.slice(1)} ${onWall.getUTCDate()} ${months[onWall.getUTCMonth()]} ${time}`;
}

/** The hours that are known before any record. `sms`: given where every message is a text message. */
export type KnownHours = Pick<MessageHours, 'campaign' | 'window' | 'accountZone' | 'sms'>;

/** Why these windows never let a message out, if so: wrong hours, no days, never open together. */
export function checkWindows(hours: KnownHours): string[] {
  try {
    const never = groups(hours).find((windows) => !meet(windows));
    return never === undefined ? [] : [neverTogether(never)];
  } catch (error) {
    if (error instanceof CloseloopError) return [error.message];
    throw error;
  }
}

/** The windows that share a clock for every recipient: other windows may overlap in some recipient's zone. */
function groups(hours: KnownHours): SendWindow[][] {
  const { windows } = messageWindows(known(hours));
  const [campaign, ...others] = windows;
  if (hours.window === undefined) return [[campaign]];
  const [rule, ...texts] = others;
  if (rule === undefined) return [[campaign]];
  return hours.window.zone === 'account' ? [[campaign, rule]] : [[rule, ...texts]];
}

/** The hours without holidays and recipient: holidays close no window for ever. */
export function known({ campaign, window, accountZone, sms }: KnownHours): KnownHours {
  return { campaign, window, accountZone, sms };
}
