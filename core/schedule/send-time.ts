import { CloseloopError } from '../errors.ts';
import { days } from './days.ts';
import { formatDuration } from './duration.ts';
import { type MessageHours, messageWindows } from './message-windows.ts';
import { firstClosing, firstOpening, type SendWindow } from './send-window.ts';
import { dayMs, wallTime, weekdayOf } from './wall-clock.ts';

export interface SendTimeInput extends MessageHours {
  now: Date;
  closedAt: Date;
  /** The rule's, from closing to message; undefined: the campaign's. */
  delayMs: number | undefined;
  /**
   * The create operation can't carry a date, so that the service waits the campaign's delay after the request is made.
   * `at` is then that much before the message, and it is the message that keeps to the windows.
   */
  serviceAddsDelay?: boolean | undefined;
}

export interface SendTime {
  at: Date;
  /** From `at` on, the first instant at which a request would come too late for these windows; undefined: not for four weeks. */
  until: Date | undefined;
  /** Sentences for the trace. */
  why: string[];
}

/**
 * When to make the request: the earliest instant that is not before `now`, not before the delay is over, and inside all
 * windows of the message. A repetition with `now` = `at` gives `at` again.
 * @throws CloseloopError config when the windows are never open together within 29 days, or an hour, a day list or
 *   the account's zone is wrong; permanent when that is so for this recipient's zone only
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
    why.unshift(`${whose} delay of ${formatDuration(delayMs)} ends ${inWords(due, input.accountZone)}`);
  }
  const { at, closed } = firstOpening(windows, earliest) ?? never(input, windows);
  for (const [window, { opens, holiday }] of closed) {
    why.push(`${holiday ?? window.name}; closed until ${inWords(opens, window.zone)}`);
  }
  if (serviceMs > 0) {
    why.push(
      `the service itself waits ${formatDuration(serviceMs)} after the request: message ${inWords(at, input.accountZone)}`,
    );
  }
  const closes = firstClosing(windows, at);
  const until = closes === undefined ? undefined : new Date(closes - serviceMs);
  return { at: new Date(at - serviceMs), until, why };
}

function never({ sms, holidays }: MessageHours, windows: readonly SendWindow[]): never {
  // It may be this one recipient's clock or calendar that leaves no hour: no reason to stop the source.
  const isOfRecipient =
    sms !== undefined || holidays !== undefined || new Set(windows.map(({ zone }) => zone)).size > 1;
  const kind = isOfRecipient ? 'permanent' : 'config';
  throw new CloseloopError(neverTogether(windows), { kind }, { outcome: 'never-sent' });
}

export function neverTogether(windows: readonly SendWindow[]): string {
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
