import { z } from 'zod';
import { refusal } from '../../core/errors.ts';
import { readInstant } from '../../core/mapping/calendar-value.ts';
import { daysIn } from './shown-time.ts';

/**
 * A day (its beginning; `today` and `yesterday` are days) or a date and time, as people write them: without an offset on the clock of the Feedback account,
 * whatever the machine's own is. A time that a clock change skips moves on by the change, one that comes twice is the first.
 * @param timeZone The account's.
 * @throws CloseloopError config
 */
export function instant(text: string, option: string, { timeZone, now }: { timeZone: string; now: Date }): Date {
  const at = readInstant(dayOf(text, timeZone, now) ?? text, timeZone);
  if (at !== undefined) return at;
  throw refusal(
    `${option} must be a day like 2026-11-01, today or yesterday, or a date and time like 2026-11-01T08:00 (in the account's zone, ${timeZone}) or 2026-11-01T08:00:00Z.`,
  );
}

/**
 * A day of the account's calendar, YYYY-MM-DD; `today` and `yesterday` are days.
 * @throws CloseloopError config
 */
export function dayOn(text: string, option: string, timeZone: string): string {
  const day = dayOf(text, timeZone, new Date()) ?? text.trim();
  if (Day.safeParse(day).success) return day;
  throw refusal(`${option} must be a day like 2026-11-01, today or yesterday (in the account's zone, ${timeZone}).`);
}

/** @throws CloseloopError config for a time that ends before it begins, in which nothing can be */
export function refuseReversed(since: Date | undefined, until: Date | undefined): void {
  if (since !== undefined && until !== undefined && since >= until)
    throw refusal('--since must be before --until. A day is taken as its beginning.');
}

const Day = z.iso.date();

/** The day that a word names, on the calendar of the zone: a day may have 23 or 25 hours. */
function dayOf(word: string, timeZone: string, now: Date): string | undefined {
  const back = new Map([
    ['today', 0],
    ['yesterday', 1],
  ]).get(word.trim().toLowerCase());
  if (back === undefined) return undefined;
  return new Date(Date.parse(`${daysIn(timeZone)(now)}T00:00:00Z`) - back * 86_400_000).toISOString().slice(0, 10);
}
