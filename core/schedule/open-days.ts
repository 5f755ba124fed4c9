import { Temporal } from 'temporal-polyfill';
import { type Day, days } from './days.ts';
import { type MessageHours, messageWindows } from './send-time.ts';
import { firstClosing, firstOpening, type SendWindow } from './send-window.ts';
import { dateText, dayMs, spanAt, weekdayOf } from './wall-clock.ts';

/** A day on the calendar of one zone, and when messages may go out on it. */
export interface OpenDay {
  /** 2026-11-23 */
  date: string;
  weekday: Day;
  /** Half-open, cut at midnight. */
  open: { from: Date; until: Date }[];
  /** The public holiday that closes the day. */
  holiday?: string;
  /** When the clocks change on this day, and by how many minutes they go forward (below 0: back). */
  clockChange?: { at: Date; minutes: number };
}

/** The coming days, from `first` (2026-11-23) on, as a recipient in `zone` sees them. @throws CloseloopError config */
export function openDays(hours: MessageHours, zone: string, first: string, count: number): OpenDay[] {
  const { windows } = messageWindows(hours);
  const begin = Date.parse(`${first}T00:00:00Z`) / dayMs;
  return Array.from({ length: count }, (_, i) => openDay(windows, zone, begin + i));
}

function openDay(windows: readonly SendWindow[], zone: string, date: number): OpenDay {
  const [from, until] = [midnight(date, zone), midnight(date + 1, zone)];
  const holiday = windows.map(({ holidayOn }) => holidayOn?.(date)).find((name) => name !== undefined);
  const { offsetMs, until: change } = spanAt(zone, from);
  const minutes = change < until ? (spanAt(zone, change).offsetMs - offsetMs) / 60_000 : 0;
  return {
    date: dateText(date),
    weekday: days[weekdayOf(date) - 1] ?? 'mon',
    open: openHours(windows, from, until),
    ...(holiday !== undefined && { holiday }),
    ...(minutes !== 0 && { clockChange: { at: new Date(change), minutes } }),
  };
}

function openHours(windows: readonly SendWindow[], from: number, until: number): OpenDay['open'] {
  const open: OpenDay['open'] = [];
  for (let at = from; at < until; ) {
    const opens = firstOpening(windows, at)?.at ?? until;
    if (opens >= until) break;
    const closes = Math.min(firstClosing(windows, opens) ?? until, until);
    open.push({ from: new Date(opens), until: new Date(closes) });
    at = closes;
  }
  return open;
}

/** The first instant of a day, which is not 00:00 where the clocks change then. */
function midnight(date: number, zone: string): number {
  return Temporal.PlainDate.from(dateText(date)).toZonedDateTime(zone).epochMilliseconds;
}
