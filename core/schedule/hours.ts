import { CloseloopError } from '../errors.ts';
import { type Day, days } from './days.ts';
import type { SendWindow } from './send-window.ts';

/** Hours as people write them: `HH:MM` or `HH:MM:SS`; without `from` from midnight on, without `until` to midnight. */
export interface Hours {
  from?: string | undefined;
  until?: string | undefined;
  /** The day on which the window opens. Left out: every day. */
  days?: readonly Day[] | undefined;
}

/**
 * Hours in a zone. `name` begins the window's own: "the rule sends".
 * @throws CloseloopError config for hours that are none
 */
export function windowOf(name: string, hours: Hours, zone: string): SendWindow {
  const from = secondsOf(hours.from ?? '00:00', name);
  const until = secondsOf(hours.until ?? '24:00', name);
  if (hours.days?.length === 0) throw mistake(`${name} on no day: give window.days at least one, or leave it out`);
  const chosen = hours.days === undefined ? undefined : new Set(hours.days.map((day) => days.indexOf(day) + 1));
  const dayNames = chosen === undefined ? '' : ` ${days.filter((_, index) => chosen.has(index + 1)).join(', ')}`;
  const span = from === until || until - from === 86_400 ? 'at any hour' : `${clock(from)}–${clock(until)}`;
  return { name: `${name} ${span}${dayNames} ${zone}`, from, until, days: chosen, zone };
}

/** What hours mean whose end lies before their beginning, as people may have swapped them; undefined for others, as for an end at midnight. */
export function overnight({ from = '00:00', until = '24:00' }: Pick<Hours, 'from' | 'until'>): string | undefined {
  const end = secondsOf(until, 'the window');
  return end > 0 && secondsOf(from, 'the window') > end
    ? `asks at night, from ${from} to ${until} the next morning`
    : undefined;
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

export function mistake(message: string): CloseloopError {
  return new CloseloopError(message, { kind: 'config' }, { outcome: 'never-sent' });
}
