import { Temporal } from 'temporal-polyfill';
import { lengthOf, openPart, type Stretch } from './slots.ts';

/** An hour of the clock that is open, at least in part. */
export interface OpenHour {
  /** When the hour begins. */
  hour: number;
  open: Stretch;
  /** How long the day has been open when this hour ends. */
  openMsThen: number;
}

const hourMs = 3_600_000;

/** A day of the clock, half-open. */
export interface OpenDay extends Stretch {
  hours: OpenHour[];
  open: Stretch[];
}

/** The beginning of an instant's hour. Hours count from the beginning of the day, also where clocks change by half an hour. @param zone IANA name */
export function hourOf(epochMs: number, zone: string): number {
  const from = clockOf(epochMs, zone).startOfDay().epochMilliseconds;
  return epochMs - ((epochMs - from) % hourMs);
}

/**
 * All open hours of the day of `epochMs`, also those before `epochMs`. A day with a clock change has an hour more or less.
 * @param opensAt returns the first open instant that is not before the given instant
 */
export function openDay(epochMs: number, zone: string, opensAt: (epochMs: number) => number): OpenDay {
  const from = clockOf(epochMs, zone).startOfDay();
  const until = from.add({ days: 1 }).startOfDay().epochMilliseconds;
  const hours: OpenHour[] = [];
  let openMsThen = 0;
  for (let hour = from.epochMilliseconds; hour < until; ) {
    const open = openPart({ from: hour, until: Math.min(until, hour + hourMs) }, opensAt);
    if (open) {
      openMsThen += lengthOf([open]);
      hours.push({ hour, open, openMsThen });
    }
    // A long closed time is skipped at once, not hour by hour.
    const opens = open ? hour + hourMs : opensAt(hour);
    hour += Math.max(1, Math.floor((opens - hour) / hourMs)) * hourMs;
  }
  return { from: from.epochMilliseconds, until, hours, open: hours.map(({ open }) => open) };
}

/** `11:24` on the wall clock of `zone`; with the date where `since` is on another day. */
export function clockText(epochMs: number, zone: string, since = epochMs): string {
  const at = clockOf(epochMs, zone);
  const time = at.toPlainTime().toString({ smallestUnit: 'minute' });
  const isSameDay = at.toPlainDate().equals(clockOf(since, zone).toPlainDate());
  return isSameDay ? time : `${at.toPlainDate().toString()} ${time}`;
}

function clockOf(epochMs: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone);
}
