import { z } from 'zod';

/** Returns null for a missing value, and undefined for a value that is no instant. */
export type InstantReader<Instant> = (value: unknown) => Instant | null | undefined;

const instant = z.core.regexes.datetime({ offset: true });
const time = /^.{10}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3,})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Reads instants. The slow part is to check the day and to calculate its beginning: this is done once for successive instants
 * with the same day and offset.
 */
export function instantReader(): InstantReader<Date> {
  let [date, offset, begins] = ['', '', 0];
  return (value) => {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string') return undefined;
    if (date !== '' && value.startsWith(date) && value.endsWith(offset) && time.test(value)) {
      const seconds = (twoDigits(value, 11) * 60 + twoDigits(value, 14)) * 60 + twoDigits(value, 17);
      const ms = value[19] === '.' ? Number(value.slice(20, 23)) : 0;
      return new Date(begins + seconds * 1_000 + ms);
    }
    if (!instant.test(value)) return undefined;
    date = value.slice(0, 10);
    offset = value.endsWith('Z') ? 'Z' : value.slice(-6);
    begins = Date.parse(`${date}T00:00:00${offset}`);
    return new Date(value);
  };
}

/** The number that two digits at this place of a text form. */
function twoDigits(text: string, at: number): number {
  return text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528;
}

/**
 * Reads instants as texts in the form of JSON. The slow part is the hour in UTC: it is calculated once for successive instants
 * with the same hour and offset, if their minutes are the same in UTC.
 */
export function instantTextReader(): InstantReader<string> {
  const instantOf = instantReader();
  let [hour, offset, shown] = ['', '', ''];
  return (value) => {
    if (typeof value !== 'string') return value === undefined || value === null ? null : undefined;
    if (hour !== '' && value.startsWith(hour) && value.endsWith(offset) && time.test(value)) {
      // V8 copies short texts when it joins them, but makes a tree of long texts, which is slower to read: so only one long text is joined here.
      const end = `${value.slice(13, 19)}${value[19] === '.' ? value.slice(19, 23) : '.000'}Z`;
      return shown + end;
    }
    const text = instantOf(value)?.toISOString();
    const isWhole = text?.slice(-11, -5) === value.slice(13, 19);
    [hour, offset] = isWhole ? [value.slice(0, 13), value.endsWith('Z') ? 'Z' : value.slice(-6)] : ['', ''];
    shown = text?.slice(0, -11) ?? '';
    return text;
  };
}
