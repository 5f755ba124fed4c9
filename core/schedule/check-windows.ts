import { CloseloopError } from '../errors.ts';
import { overnight } from './hours.ts';
import { type MessageHours, messageWindows, neverTogether } from './send-time.ts';
import { meet, type SendWindow } from './send-window.ts';

/** What can be seen before any record. `sms`: given where every message is a text message. */
type KnownHours = Pick<MessageHours, 'campaign' | 'window' | 'accountZone' | 'sms'>;

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

/** Holidays close no window for ever. */
function known({ campaign, window, accountZone, sms }: KnownHours): KnownHours {
  return { campaign, window, accountZone, sms };
}

/** Windows that work and may not do what their writer meant. `sms`: given where some messages may be text messages. */
export function doubtsAbout(hours: KnownHours): { problem: string; remedy: string }[] {
  const doubts: { problem: string; remedy: string }[] = [];
  const { window, accountZone } = hours;
  const atNight = window && overnight(window);
  if (window && atNight !== undefined) {
    const remedy = `write from "${window.until}" and until "${window.from}" if the day was meant`;
    doubts.push({ problem: `its window ${atNight}`, remedy });
  }
  const { windows } = messageWindows(known(hours));
  if (hours.sms !== undefined && !meet(windows)) {
    const names = windows.map(({ name }) => name).join(', and ');
    const problem = `${names}: nobody whose zone is ${accountZone}, or not known, is sent a text message`;
    doubts.push({ problem, remedy: "change the rule's window, the campaign's hours or policy.sms" });
  }
  return doubts;
}
