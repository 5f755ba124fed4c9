import { Temporal } from 'temporal-polyfill';
import { isTimeZone } from '../address.ts';

/** A time in which a zone's clock keeps one distance from UTC. Epoch milliseconds, half-open. */
export interface OffsetSpan {
  from: number;
  until: number;
  /** Wall clock = UTC + this. */
  offsetMs: number;
}

/** A reading of a wall clock. */
export interface WallTime {
  /** Days since 1 January 1970. */
  date: number;
  /** Milliseconds since midnight. */
  ms: number;
}

export const dayMs = 86_400_000;

/** By zone: finding a clock change takes a hundred times as long as all else about a send time. */
const known = new Map<string, OffsetSpan[]>();

/** Names may be written in any case: no vendor's data makes this grow for ever. */
const mostZones = 1_000;

/** The span that an instant lies in. @throws RangeError for what is no IANA name */
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
  if (known.size >= mostZones && !known.has(zone)) known.clear();
  known.set(zone, [...spans, span]);
  return span;
}

/** Whether this is an IANA name. An offset (`+02:00`) is none: which clock changes hold where it was written, it does not say. */
export function isZone(name: string): boolean {
  return known.has(name) || isTimeZone(name);
}

/** What the clock on the wall reads. */
export function wallTime(zone: string, epochMs: number): WallTime {
  return readingOf(epochMs + spanAt(zone, epochMs).offsetMs);
}

/** Of milliseconds since 1 January 1970 00:00 on a wall clock. */
export function readingOf(localMs: number): WallTime {
  const date = Math.floor(localMs / dayMs);
  return { date, ms: localMs - date * dayMs };
}

/** 1 (Monday) to 7. */
export function weekdayOf(date: number): number {
  return ((((date + 3) % 7) + 7) % 7) + 1;
}

/** "2026-11-23" */
export function dateText(date: number): string {
  return new Date(date * dayMs).toISOString().slice(0, 10);
}
