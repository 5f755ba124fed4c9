import { Temporal } from 'temporal-polyfill';
import { isTimeZone } from '../address.ts';

/** A span of time in which a zone's offset from UTC stays the same. Epoch milliseconds, half-open. */
export interface OffsetSpan {
  from: number;
  until: number;
  /** Wall clock = UTC + this. */
  offsetMs: number;
}

export interface WallTime {
  /** Days since 1 January 1970. */
  date: number;
  /** Milliseconds since midnight. */
  ms: number;
}

export const dayMs = 86_400_000;

/** The known spans by zone: finding a clock change takes a hundred times as long as all other steps of a send time. */
const known = new Map<string, OffsetSpan[]>();

/** The most zones in `known`: as names may be written in any case, a vendor's data could make the map grow for ever. */
const mostZones = 1_000;

/** The span that contains an instant. @throws RangeError for a text that is no IANA name */
export function spanAt(zone: string, epochMs: number): OffsetSpan {
  const spans = known.get(zone) ?? [];
  const found = spans.find(({ from, until }) => from <= epochMs && epochMs < until);
  if (found) return found;
  const at = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(zone);
  const span: OffsetSpan = {
    from: at.add({ milliseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    until: at.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    offsetMs: at.offsetNanoseconds / 1_000_000,
  };
  remember(zone, [...spans, span]);
  return span;
}

function remember(zone: string, spans: OffsetSpan[]): void {
  if (known.size >= mostZones && !known.has(zone)) known.clear();
  known.set(zone, spans);
}

/** Whether this is an IANA name. An offset (`+02:00`) is not accepted, as it does not say which clock changes hold. */
export function isZone(name: string): boolean {
  // Asking the system's list of zones takes longer than reading a record.
  if (!known.has(name) && isTimeZone(name)) remember(name, []);
  return known.has(name);
}

export function wallTime(zone: string, epochMs: number): WallTime {
  return readingOf(epochMs + spanAt(zone, epochMs).offsetMs);
}

/** The reading at this many milliseconds since 1 January 1970 00:00 on a wall clock. */
export function readingOf(localMs: number): WallTime {
  const date = Math.floor(localMs / dayMs);
  return { date, ms: localMs - date * dayMs };
}

/** The day of the week of a date: 1 (Monday) to 7. */
export function weekdayOf(date: number): number {
  return ((((date + 3) % 7) + 7) % 7) + 1;
}

/** A date as text: "2026-11-23". */
export function dateText(date: number): string {
  return new Date(date * dayMs).toISOString().slice(0, 10);
}
