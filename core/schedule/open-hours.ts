import { Temporal } from 'temporal-polyfill';

/** Open time, half-open, in epoch milliseconds. */
export interface Stretch {
  from: number;
  until: number;
}

export function lengthOf(open: readonly Stretch[]): number {
  return open.reduce((sum, { from, until }) => sum + until - from, 0);
}

/**
 * The beginning of the n-th (from 0) of `count` slots, which are spread evenly over the open time: the first slot begins with the open
 * time, and closed hours don't count. Undefined for a slot that does not exist.
 */
export function slotAt(n: number, count: number, open: readonly Stretch[]): number | undefined {
  if (n < 0 || n >= count) return undefined;
  let ahead = Math.floor((n * lengthOf(open)) / count);
  for (const { from, until } of open) {
    if (ahead < until - from) return from + ahead;
    ahead -= until - from;
  }
  return undefined;
}

/**
 * The open part of an hour. If there are several open parts, closed times between them may count as open, or only a part of them is found.
 * @param opensAt returns the first open instant that is not before the given instant
 */
export function openPart({ from, until }: Stretch, opensAt: (epochMs: number) => number): Stretch | undefined {
  const opens = opensAt(from);
  if (opens >= until) return undefined;
  let [open, closed] = [opens, until];
  if (opensAt(until - 1) === until - 1) return { from: opens, until };
  while (closed - open > 1) {
    const middle = Math.floor((open + closed) / 2);
    if (opensAt(middle) === middle) open = middle;
    else closed = middle;
  }
  return { from: opens, until: closed };
}

/** An hour of the clock that is open, at least in part. */
export interface OpenHour {
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
