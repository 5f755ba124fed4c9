import { Temporal } from 'temporal-polyfill';

/*
 * Dates and times as vendors write them, in ISO 8601: `2026-11-21`, `09:30`, `2026-11-21T09:30:00.000Z`. Temporal reads
 * more forms (week dates, calendars, zones in brackets); forms that a person can't read at a glance are refused here.
 */

type CalendarResult = { ok: true; value: string } | { ok: false; why: string };

const shape =
  /^(?:(?<date>\d{4}-\d\d-\d\d))?(?:(?<joint>[Tt]|\s+)?(?<time>\d\d?:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)\s*(?<offset>[Zz]|UTC|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/;

interface Parts {
  date: Temporal.PlainDate | undefined;
  time: Temporal.PlainTime | undefined;
  /** `Z` or `+02:00`. */
  offset: string | undefined;
}

/** Reads a date as `YYYY-MM-DD`: a date stays as it is, and a date and time gives its day in the account's zone. */
export function readDate(text: string, timeZone: string): CalendarResult {
  const parts = partsOf(text);
  if (parts?.date === undefined) return no("a text that isn't a date (2026-11-21) or a date and time");
  if (parts.offset === undefined) return yes(parts.date.toString());
  const at = zoned(parts, timeZone);
  return at === undefined ? no(outOfRange) : yes(at.toPlainDate().toString());
}

/** Reads a time as `HH:MM:SS`: a time stays as it is, and a date and time gives its time in the account's zone, without fractions of a second. */
export function readTime(text: string, timeZone: string): CalendarResult {
  const parts = partsOf(text);
  if (parts === undefined) return no("a text that isn't a time of day (09:30, 09:30:15) or a date and time");
  if (parts.time === undefined) return no('a date without a time of day');
  if (parts.date === undefined && parts.offset !== undefined) return no('a time of day with an offset but no date');
  if (parts.offset === undefined) return yes(clock(parts.time));
  const at = zoned(parts, timeZone);
  return at === undefined ? no(outOfRange) : yes(clock(at.toPlainTime()));
}

/**
 * Reads a date and time as `2026-11-21T09:30:00+02:00`, the same instant in the account's zone. A text without an offset is a time on the
 * account's wall clock: a time that a clock change skips moves on by the change, and a time that comes twice means the first of the two.
 */
export function readDateAndTime(text: string, timeZone: string): CalendarResult {
  const parts = partsOf(text);
  if (parts === undefined) return no("a text that isn't a date and time (2026-11-21T09:30:00Z)");
  if (parts.date === undefined) return no('a time of day without a date');
  if (parts.time === undefined) return no('a date without a time of day');
  const at = zoned(parts, timeZone);
  if (at === undefined) return no(outOfRange);
  // Before time zones were introduced, offsets had seconds, which ISO 8601 can't express: the offset is cut, the instant stays.
  const written = at.toInstant().toZonedDateTimeISO(at.offset.slice(0, 6));
  return yes(written.toString({ timeZoneName: 'never', smallestUnit: 'second', roundingMode: 'trunc' }));
}

/** The instant of a date and time, read as `readDateAndTime` reads it, or of a day's beginning; undefined for other text. */
export function readInstant(text: string, timeZone: string): Date | undefined {
  const parts = partsOf(text);
  if (parts?.date === undefined) return undefined;
  const at = zoned({ ...parts, time: parts.time ?? new Temporal.PlainTime() }, timeZone);
  return at === undefined ? undefined : new Date(at.epochMilliseconds);
}

const outOfRange = 'a date and time outside the years 1 to 9999';

const yes = (value: string): CalendarResult => ({ ok: true, value });
const no = (why: string): CalendarResult => ({ ok: false, why });

function clock(time: Temporal.PlainTime): string {
  return time.toString({ smallestUnit: 'second', roundingMode: 'trunc' });
}

/** The parts of a date and time. Undefined for another text, and for a day or hour that doesn't exist (30 February, 25:00). */
function partsOf(text: string): Parts | undefined {
  const { date, joint, time, offset } = shape.exec(text)?.groups ?? {};
  if (date === undefined && time === undefined) return undefined;
  if (time !== undefined && (date === undefined) !== (joint === undefined)) return undefined;
  try {
    const day = date === undefined ? undefined : Temporal.PlainDate.from(date);
    if (day?.year === 0) return undefined;
    return {
      date: day,
      time:
        time === undefined
          ? undefined
          : Temporal.PlainTime.from(time.padStart(time.indexOf(':') === 1 ? time.length + 1 : 0, '0')),
      offset: offset === undefined ? undefined : offset.toUpperCase().replace('UTC', 'Z'),
    };
  } catch {
    return undefined;
  }
}

function zoned({ date, time, offset }: Parts, timeZone: string): Temporal.ZonedDateTime | undefined {
  if (date === undefined || time === undefined) return undefined;
  try {
    const local = date.toPlainDateTime(time);
    const at =
      offset === undefined
        ? local.toZonedDateTime(timeZone)
        : Temporal.Instant.from(`${local.toString()}${offset}`).toZonedDateTimeISO(timeZone);
    return at.year >= 1 && at.year <= 9999 ? at : undefined;
  } catch {
    return undefined;
  }
}
