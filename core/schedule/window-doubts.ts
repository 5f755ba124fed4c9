import { type KnownHours, known, messageWindows } from './send-time.ts';
import { meet, secondsOf } from './send-window.ts';

/** Windows that work and may not do what their writer meant. `sms`: given where some messages may be text messages. */
export function doubtsAbout(hours: KnownHours): { problem: string; remedy: string }[] {
  const doubts: { problem: string; remedy: string }[] = [];
  const { window, accountZone } = hours;
  const { from = '00:00', until = '24:00' } = window ?? {};
  const end = secondsOf(until, 'the window');
  // The window crosses midnight: the writer may have swapped the ends. A window that ends at midnight is no such mistake.
  if (window && end > 0 && secondsOf(from, 'the window') > end) {
    const remedy = `write from "${window.until}" and until "${window.from}" if the day was meant`;
    doubts.push({ problem: `its window asks at night, from ${from} to ${until} the next morning`, remedy });
  }
  const { windows } = messageWindows(known(hours));
  if (hours.sms !== undefined && !meet(windows)) {
    const names = windows.map(({ name }) => name).join(', and ');
    const problem = `${names}: nobody whose zone is ${accountZone}, or not known, is sent a text message`;
    doubts.push({ problem, remedy: "change the rule's window, the campaign's hours or policy.sms" });
  }
  return doubts;
}
