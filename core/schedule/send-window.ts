import { Temporal } from 'temporal-polyfill';

/*
 * One rule decides every question of clock changes: a window is open exactly when the clock on the wall, in the
 * window's zone, reads a time inside it. So where a clock change skips the opening, it opens at the first instant after
 * the change; where an hour comes twice, it is open, or closed, both times.
 */

/** Hours in which messages may go out. */
export interface SendWindow {
  /** In words, with its hours and zone, for traces and errors: "campaign 12 sends 09:00–20:00 Europe/Tallinn". */
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
}

/** How far an opening is looked for. A weekly window may lose one opening to a clock change, hence more than a week. */
export const searchDays = 15;

const daySeconds = 86_400;

export function isOpen(window: SendWindow, epochMs: number): boolean {
  const clock = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(window.zone);
  const second = clock.hour * 3_600 + clock.minute * 60 + clock.second;
  return opensOn(window, clock.dayOfWeek, second);
}

function opensOn({ from, until, days }: SendWindow, day: number, second: number): boolean {
  const today = days === undefined || days.has(day);
  if (from === until) return today;
  if (from < until) return today && from <= second && second < until;
  const yesterday = days === undefined || days.has(day === 1 ? 7 : day - 1);
  return (today && second >= from) || (yesterday && second < until);
}

/** The first instant from `epochMs` on at which the window is open; undefined if that is more than 15 days ahead. */
export function nextOpening(window: SendWindow, epochMs: number): number | undefined {
  if (isOpen(window, epochMs)) return epochMs;
  let date = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(window.zone).toPlainDate();
  for (let day = 0; day <= searchDays; day += 1) {
    const openings = turns(window, date).filter((turn) => turn >= epochMs && isOpen(window, turn));
    if (openings.length > 0) return Math.min(...openings);
    date = date.add({ days: 1 });
  }
  return undefined;
}

/** The instants of a day at which a closed window can turn open: its hour, midnight (another day's rule), a clock change. */
function turns(window: SendWindow, date: Temporal.PlainDate): number[] {
  const { zone, from } = window;
  const start = date.toZonedDateTime({ timeZone: zone });
  const end = date.add({ days: 1 }).toZonedDateTime({ timeZone: zone });
  const midnight = start.epochMilliseconds;
  // A day without a clock change, which is nearly every day. Some zones change at midnight: such a day begins at 01:00.
  if (start.offsetNanoseconds === end.offsetNanoseconds && start.hour === 0) return [midnight, midnight + from * 1_000];

  const local = date.toPlainDateTime().add({ seconds: from });
  const change = start.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  return [
    midnight,
    ...(['earlier', 'later'] as const).map(
      (disambiguation) => local.toZonedDateTime(zone, { disambiguation }).epochMilliseconds,
    ),
    ...(change <= end.epochMilliseconds ? [change] : []),
  ];
}

/** Whether two windows of one zone are ever open together, clock changes aside. */
export function meet(one: SendWindow, other: SendWindow): boolean {
  const week = 7 * daySeconds;
  return openHours(one).some(([start, end]) =>
    openHours(other).some(([from, until]) =>
      [-week, 0, week].some((shift) => Math.max(start, from + shift) < Math.min(end, until + shift)),
    ),
  );
}

/** Half-open, in seconds since the midnight in which the Sunday before began; the last Sunday's may go beyond the week. */
function openHours({ from, until, days }: SendWindow): [start: number, end: number][] {
  return [...(days ?? [1, 2, 3, 4, 5, 6, 7])].map((day) => {
    const midnight = day * daySeconds;
    if (from === until) return [midnight, midnight + daySeconds];
    return [midnight + from, midnight + until + (until < from ? daySeconds : 0)];
  });
}
