import { Temporal } from 'temporal-polyfill';

const dayMs = 86_400_000;
/**
 * Every zone's offset is constant within a minute of UTC since Monrovia's change on 7 January 1972. Not within a quarter of an hour:
 * clocks of St John's changed at 00:01 until 2011, and of Casey in 2022.
 */
const bucketMs = 60_000;

/** An account's time zone. Instants are epoch milliseconds, days are counted from 1970-01-01 in the zone's calendar. */
export class Zone {
  readonly id: string;
  readonly #offsets = new Map<number, number>();

  /** @throws RangeError for an unknown IANA name. */
  constructor(id: string) {
    this.id = id;
    this.offsetMs(0);
  }

  offsetMs(at: number): number {
    const bucket = Math.floor(at / bucketMs);
    const known = this.#offsets.get(bucket);
    if (known !== undefined) return known;
    const zoned = Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(this.id);
    const offset = zoned.offsetNanoseconds / 1e6;
    if (this.#offsets.size > 100_000) this.#offsets.clear();
    this.#offsets.set(bucket, offset);
    return offset;
  }

  day(at: number): number {
    return Math.floor((at + this.offsetMs(at)) / dayMs);
  }

  /** Wall-clock milliseconds since midnight. */
  timeOfDay(at: number): number {
    return at + this.offsetMs(at) - this.day(at) * dayMs;
  }

  /**
   * Every instant at which a clock on the wall may be said to show `timeOfDay` on `day`: one, two where the hour is
   * repeated, and where it is left out the instant of the change (the first with a later wall time). Ascending.
   */
  instants(day: number, timeOfDay: number): number[] {
    const plain = plainDateTime(day, timeOfDay);
    const earlier = plain.toZonedDateTime(this.id, { disambiguation: 'earlier' });
    const later = plain.toZonedDateTime(this.id, { disambiguation: 'later' }).epochMilliseconds;
    if (earlier.epochMilliseconds === later) return [later];
    if (earlier.toPlainDateTime().equals(plain)) return [earlier.epochMilliseconds, later];
    const change = earlier.getTimeZoneTransition('next');
    return [change?.epochMilliseconds ?? later];
  }

  /** `YYYY-MM-DDTHH:MM:SS.ffffff+HH:MM` (specification 1, general rule 6). */
  timestamp(at: number): string {
    const offset = this.offsetMs(at);
    const minutes = Math.round(Math.abs(offset) / 60_000);
    const sign = offset < 0 ? '-' : '+';
    const wall = new Date(at + offset).toISOString().slice(0, -1);
    return `${wall}000${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  }

  /** An ISO 8601 date and time; without an offset it is read in this zone. Undefined when it isn't one. */
  parse(text: string): number | undefined {
    if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/i.test(text)) return undefined;
    try {
      if (/(Z|[+-]\d\d(:?\d\d)?)$/i.test(text.slice(11))) return Temporal.Instant.from(text).epochMilliseconds;
      return Temporal.PlainDateTime.from(text).toZonedDateTime(this.id).epochMilliseconds;
    } catch {
      return undefined;
    }
  }
}

/** The day number of YYYY-MM-DD; undefined when it isn't a day of the calendar. */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text) return undefined;
  return at / dayMs;
}

/** Milliseconds since midnight of HH:MM or HH:MM:SS; undefined when it isn't a time of day. */
export function parseTimeOfDay(text: string): number | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(text);
  if (match === null) return undefined;
  return (Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3] ?? 0)) * 1000;
}

function plainDateTime(day: number, timeOfDay: number): Temporal.PlainDateTime {
  return Temporal.PlainDateTime.from(new Date(day * dayMs + timeOfDay).toISOString().slice(0, -1));
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Wall-clock milliseconds since midnight. Half-open; `until` before `from` goes over midnight; equal is always open. */
export interface SendWindow {
  from: number;
  until: number;
}

export function isOpen(window: SendWindow, zone: Zone, at: number): boolean {
  const { from, until } = window;
  if (from === until) return true;
  const time = zone.timeOfDay(at);
  return from < until ? from <= time && time < until : from <= time || time < until;
}

/** When a request scheduled for `at` goes out: `at` while the window is open, else the next instant it is. */
export function firstOpenAt(window: SendWindow, zone: Zone, at: number): number {
  if (isOpen(window, zone, at)) return at;
  const today = zone.day(at);
  // A window inside the hour that a clock change leaves out doesn't open that day: hence more than tomorrow.
  for (let day = today; day <= today + 3; day += 1) {
    for (const instant of zone.instants(day, window.from)) {
      if (instant >= at && isOpen(window, zone, instant)) return instant;
    }
  }
  throw new RangeError('the send window never opens');
}
