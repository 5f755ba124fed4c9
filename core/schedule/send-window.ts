import { neverSent } from '../errors.ts';
import { type Day, days } from './days.ts';
import { dayMs, readingOf, spanAt, type WallTime, wallTime, weekdayOf } from './wall-clock.ts';

/*
 * One rule decides every question of clock changes: a window is open exactly when the clock on the wall, in the
 * window's zone, reads a time inside the window. So where a clock change skips the opening, the window opens at the first
 * instant after the change; where an hour comes twice, the window is open, or closed, both times.
 */

/** Hours in which messages may go out. */
export interface SendWindow {
  /** The window in words, with its hours and zone, for traces and errors: "campaign 12 sends 09:00–20:00 Europe/Tallinn". */
  name: string;
  /** Seconds of the wall clock since midnight, 0 to 86,400, half-open. Equal: open all day. `from` later: over midnight. */
  from: number;
  until: number;
  /**
   * 1 (Monday) to 7; undefined is every day. The part of a window after midnight belongs to the day on which it
   * opened: a window 20:00–02:00 of Friday ends on Saturday at 02:00.
   */
  days: ReadonlySet<number> | undefined;
  /** IANA name. */
  zone: string;
  /** Why the window is closed on a date of its zone (days since 1 January 1970), from midnight to midnight: a holiday, in words. */
  holidayOn?: ((date: number) => string | undefined) | undefined;
}

/** How far ahead an opening is searched for. A weekly window may lose openings to clock changes and holidays, three in a row. */
export const searchDays = 29;

export function isOpen(window: SendWindow, epochMs: number): boolean {
  return isOpenOn(window, wallTime(window.zone, epochMs));
}

function isOpenOn({ from, until, days, holidayOn }: SendWindow, { date, ms }: WallTime): boolean {
  if (holidayOn?.(date) !== undefined) return false;
  const second = ms / 1_000;
  const today = days === undefined || days.has(weekdayOf(date));
  if (from === until) return today;
  if (from < until) return today && from <= second && second < until;
  const yesterday = days === undefined || days.has(weekdayOf(date - 1));
  return (today && second >= from) || (yesterday && second < until);
}

/** The first instant from `epochMs` on at which the window is open; undefined if that is more than 29 days ahead. */
export function nextOpening(window: SendWindow, epochMs: number): number | undefined {
  return firstThat(window, epochMs, true);
}

/** The first instant from `epochMs` on at which the window is closed; undefined if that is more than 29 days ahead. */
export function nextClosing(window: SendWindow, epochMs: number): number | undefined {
  return isAlwaysOpen(window) ? undefined : firstThat(window, epochMs, false);
}

/** Whether the window closes neither at an hour nor on a day. */
function isAlwaysOpen({ from, until, days, holidayOn }: SendWindow): boolean {
  return (from === until || until - from === 86_400) && days === undefined && holidayOn === undefined;
}

/** Searches span by span, as between two clock changes the wall clock runs like any clock. */
function firstThat(window: SendWindow, epochMs: number, open: boolean): number | undefined {
  const latest = epochMs + searchDays * dayMs;
  for (let at = epochMs; at <= latest; ) {
    const { offsetMs, until } = spanAt(window.zone, at);
    const local = firstOnWall(window, at + offsetMs, open);
    const found = local === undefined ? undefined : local - offsetMs;
    if (found !== undefined && found < until) return found <= latest ? found : undefined;
    at = until;
  }
  return undefined;
}

/** A window opens or closes only at its hours, and at midnight, when the rule of another day begins. */
function firstOnWall(window: SendWindow, localMs: number, open: boolean): number | undefined {
  const wanted = (ms: number) => ms >= localMs && isOpenOn(window, readingOf(ms)) === open;
  if (wanted(localMs)) return localMs;
  const hour = (open ? window.from : window.until) * 1_000;
  const { date } = readingOf(localMs);
  for (let day = date; day <= date + searchDays; day += 1) {
    const turn = [day * dayMs, day * dayMs + hour].find(wanted);
    if (turn !== undefined) return turn;
  }
  return undefined;
}

/** A window that was closed meanwhile: when it last opened, and the first holiday that closed it. */
interface Closed {
  opens: number;
  holiday: string | undefined;
}

/** The first instant from `epochMs` on at which all windows are open; undefined if that is more than 29 days ahead. */
export function firstOpening(
  windows: readonly SendWindow[],
  epochMs: number,
): { at: number; closed: ReadonlyMap<SendWindow, Closed> } | undefined {
  const latest = epochMs + searchDays * dayMs;
  const closed = new Map<SendWindow, Closed>();
  let at = epochMs;
  for (let inTheWay = true; inTheWay; ) {
    inTheWay = false;
    for (const window of windows) {
      const opens = nextOpening(window, at);
      if (opens === undefined || opens > latest) return undefined;
      if (opens === at) continue;
      inTheWay = true;
      const holiday = closed.get(window)?.holiday ?? window.holidayOn?.(wallTime(window.zone, at).date);
      closed.set(window, { opens, holiday });
      at = opens;
    }
  }
  return { at, closed };
}

/** The first instant from `epochMs` on at which any of the windows is closed; undefined if that is more than 29 days ahead. */
export function firstClosing(windows: readonly SendWindow[], epochMs: number): number | undefined {
  const closings = windows.flatMap((window) => nextClosing(window, epochMs) ?? []);
  return closings.length === 0 ? undefined : Math.min(...closings);
}

/** Whether windows of one zone are ever open together, apart from clock changes: such a time always begins when one of the windows opens. */
export function meet(windows: readonly SendWindow[]): boolean {
  return windows.some(({ from, until }) =>
    [1, 2, 3, 4, 5, 6, 7].some((date) => {
      const opens = { date, ms: from === until ? 0 : from * 1_000 };
      return windows.every((window) => isOpenOn(window, opens));
    }),
  );
}

/** Hours as people write them: `HH:MM` or `HH:MM:SS`. Without `from` they begin at midnight, without `until` they end at midnight. */
export interface Hours {
  from?: string | undefined;
  until?: string | undefined;
  /** The day on which the window opens. Left out: every day. */
  days?: readonly Day[] | undefined;
}

/**
 * Makes a window from hours in a zone. `name` is the beginning of the window's name: "the rule sends".
 * @throws CloseloopError config for invalid hours
 */
export function windowOf(name: string, hours: Hours, zone: string): SendWindow {
  const from = secondsOf(hours.from ?? '00:00', name);
  const until = secondsOf(hours.until ?? '24:00', name);
  if (hours.days?.length === 0) throw neverSent(`${name} on no day: give window.days at least one, or leave it out`);
  const chosen = hours.days === undefined ? undefined : new Set(hours.days.map((day) => days.indexOf(day) + 1));
  const dayNames = chosen === undefined ? '' : ` ${days.filter((_, index) => chosen.has(index + 1)).join(', ')}`;
  const span = from === until || until - from === 86_400 ? 'at any hour' : `${clock(from)}–${clock(until)}`;
  return { name: `${name} ${span}${dayNames} ${zone}`, from, until, days: chosen, zone };
}

export function secondsOf(text: string, name: string): number {
  const [, hour, minute, second] = /^(\d\d):([0-5]\d)(?::([0-5]\d))?$/.exec(text) ?? [];
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second ?? 0);
  // This is false for NaN, where the text has another form.
  if (seconds <= 86_400) return seconds;
  throw neverSent(`${name} from or until "${text}": must be a time of day like "09:00"`);
}

function clock(seconds: number): string {
  const parts = [seconds / 3_600, (seconds / 60) % 60, ...(seconds % 60 === 0 ? [] : [seconds % 60])];
  return parts.map((part) => String(Math.floor(part)).padStart(2, '0')).join(':');
}
