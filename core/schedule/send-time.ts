import { Temporal } from 'temporal-polyfill';
import { CloseloopError } from '../errors.ts';
import type { Campaign } from '../feedback/schemas.ts';
import { type Day, days } from './days.ts';
import { formatDuration } from './duration.ts';
import { meet, nextOpening, type SendWindow, searchDays } from './send-window.ts';

/** A campaign's own hours and delay, as the service gives them (specification, section 2). They always hold. */
export interface CampaignHours {
  /** For the trace. */
  id?: number | undefined;
  /** `HH:MM:SS` in the account's zone, half-open; equal is always open. */
  sendFrom: string;
  sendUntil: string;
  sendDelayMinutes: number | null;
}

/** Of a campaign as the service gives it. */
export function hoursOf(campaign: Pick<Campaign, 'id' | 'send_from' | 'send_until' | 'send_delay'>): CampaignHours {
  const { id, send_from, send_until, send_delay } = campaign;
  return { id, sendFrom: send_from, sendUntil: send_until, sendDelayMinutes: send_delay };
}

/** A rule's narrower hours: `HH:MM`; without `from` from midnight on, without `until` to midnight. */
export interface RuleWindow {
  from?: string | undefined;
  until?: string | undefined;
  /** The day on which the window opens. Left out: every day. */
  days?: readonly Day[] | undefined;
  zone: 'account' | 'recipient';
}

export interface SendTimeInput {
  now: Date;
  closedAt: Date;
  /** The rule's, from closing to message; undefined: the campaign's. */
  delayMs: number | undefined;
  campaign: CampaignHours;
  window?: RuleWindow | undefined;
  /** IANA name. */
  accountZone: string;
  /** IANA name as a vendor gave it; a name that isn't one counts as not known. */
  recipientZone?: string | undefined;
  /**
   * The create operation can't carry a date, so that the service waits the campaign's delay after the request is made.
   * `at` is then that much before the message, and it is the message that keeps to the windows.
   */
  serviceAddsDelay?: boolean | undefined;
}

/**
 * When to make the request: the earliest instant that is not before `now`, not before the delay is over, and inside the
 * campaign's and the rule's windows. A repetition with `now` = `at` gives `at` again. `why`: sentences for the trace.
 * @throws CloseloopError config when the windows are never open together within 15 days, or an hour, a day list or
 *   the account's zone is wrong; permanent when that is so for this recipient's zone only
 */
export function nextSendTime(input: SendTimeInput): { at: Date; why: string[] } {
  const { windows, why } = windowsOf(input);
  const campaignDelayMs = (input.campaign.sendDelayMinutes ?? 0) * 60_000;
  const serviceMs = input.serviceAddsDelay === true ? campaignDelayMs : 0;
  const delayMs = input.delayMs ?? campaignDelayMs;
  const due = input.closedAt.getTime() + delayMs;
  const earliest = Math.ceil(Math.max(input.now.getTime() + serviceMs, due));

  if (delayMs > 0) {
    const whose = input.delayMs === undefined ? "the campaign's" : "the rule's";
    why.unshift(`${whose} delay of ${formatDuration(delayMs)} ends ${inWords(due, input.accountZone)}`);
  }
  const { at, closed } = firstOpen(windows, earliest);
  for (const [window, opens] of closed) why.push(`${window.name}; closed until ${inWords(opens, window.zone)}`);
  if (serviceMs > 0) {
    why.push(
      `the service itself waits ${formatDuration(serviceMs)} after the request: message ${inWords(at, input.accountZone)}`,
    );
  }
  return { at: new Date(at - serviceMs), why };
}

/** What is wrong with a rule's window that can be seen before any record: wrong hours, no days, never open. */
export function checkWindows(input: Pick<SendTimeInput, 'campaign' | 'window' | 'accountZone'>): string[] {
  try {
    // A recipient's zone isn't known yet: any two windows that open at all may meet somewhere.
    const { windows } = windowsOf(input);
    const [campaign, rule] = windows;
    if (rule === undefined || input.window?.zone === 'recipient') return [];
    return meet(campaign, rule) ? [] : [neverTogether(windows)];
  } catch (error) {
    if (error instanceof CloseloopError) return [error.message];
    throw error;
  }
}

function firstOpen(windows: readonly SendWindow[], earliest: number) {
  const latest = earliest + searchDays * 86_400_000;
  /** Each window that was in the way, and when it last opened. */
  const closed = new Map<SendWindow, number>();
  let at = earliest;
  for (let inTheWay = true; inTheWay; ) {
    inTheWay = false;
    for (const window of windows) {
      const opens = nextOpening(window, at);
      if (opens === undefined || opens > latest) throw never(windows);
      if (opens === at) continue;
      inTheWay = true;
      closed.set(window, opens);
      at = opens;
    }
  }
  return { at, closed };
}

function never(windows: readonly SendWindow[]): CloseloopError {
  // In another zone than the account's, it is this one recipient's clock that leaves no hour: no reason to stop the source.
  const ofRecipient = new Set(windows.map(({ zone }) => zone)).size > 1;
  return new CloseloopError(
    neverTogether(windows),
    { kind: ofRecipient ? 'permanent' : 'config' },
    { outcome: 'never-sent' },
  );
}

function neverTogether(windows: readonly SendWindow[]): string {
  const names = windows.map(({ name }) => name).join(', and ');
  return `${names}: never open together. Change the rule's window, or the campaign's hours`;
}

function windowsOf(input: Pick<SendTimeInput, 'campaign' | 'window' | 'accountZone' | 'recipientZone'>) {
  const { campaign, window, accountZone, recipientZone } = input;
  if (!isZone(accountZone)) throw mistake(`feedback.timeZone: "${accountZone}" is not a time zone like Europe/Tallinn`);
  const why: string[] = [];
  const campaignName = `campaign${campaign.id === undefined ? '' : ` ${campaign.id}`} sends`;
  const campaignHours = { from: campaign.sendFrom, until: campaign.sendUntil };
  const windows: [SendWindow, ...SendWindow[]] = [windowOf(campaignName, campaignHours, accountZone)];
  if (window !== undefined) {
    let zone = accountZone;
    if (window.zone === 'recipient') {
      if (recipientZone !== undefined && isZone(recipientZone)) zone = recipientZone;
      else why.push(`the recipient's time zone is not known: the rule's window is in the account's, ${accountZone}`);
    }
    windows.push(windowOf('the rule sends', window, zone));
  }
  return { windows, why };
}

function windowOf(name: string, hours: Omit<RuleWindow, 'zone'>, zone: string): SendWindow {
  const from = secondsOf(hours.from ?? '00:00', name);
  const until = secondsOf(hours.until ?? '24:00', name);
  if (hours.days?.length === 0) throw mistake(`${name} on no day: give window.days at least one, or leave it out`);
  const chosen = hours.days === undefined ? undefined : new Set(hours.days.map((day) => days.indexOf(day) + 1));
  const dayNames = chosen === undefined ? '' : ` ${days.filter((_, index) => chosen.has(index + 1)).join(', ')}`;
  const span = from === until || until - from === 86_400 ? 'at any hour' : `${clock(from)}–${clock(until)}`;
  return { name: `${name} ${span}${dayNames} ${zone}`, from, until, days: chosen, zone };
}

function secondsOf(text: string, name: string): number {
  const [, hour, minute, second] = /^(\d\d):([0-5]\d)(?::([0-5]\d))?$/.exec(text) ?? [];
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second ?? 0);
  // NaN, where the text has another shape, is not.
  if (seconds <= 86_400) return seconds;
  throw mistake(`${name} from or until "${text}": must be a time of day like "09:00"`);
}

function clock(seconds: number): string {
  const parts = [seconds / 3_600, (seconds / 60) % 60, ...(seconds % 60 === 0 ? [] : [seconds % 60])];
  return parts.map((part) => String(Math.floor(part)).padStart(2, '0')).join(':');
}

function isZone(zone: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return true;
  } catch {
    return false;
  }
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** "Mon 23 Nov 09:00", on the wall clock of `zone`. */
function inWords(epochMs: number, zone: string): string {
  const at = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone);
  const day = days[at.dayOfWeek - 1] ?? '';
  const time = at.toPlainTime().toString({ smallestUnit: at.second === 0 ? 'minute' : 'second' });
  return `${day.charAt(0).toUpperCase()}${day.slice(1)} ${at.day} ${months[at.month - 1]} ${time}`;
}

function mistake(message: string): CloseloopError {
  return new CloseloopError(message, { kind: 'config' }, { outcome: 'never-sent' });
}
