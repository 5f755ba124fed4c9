import { CloseloopError } from '../../core/errors.ts';
import { readInstant } from '../../core/mapping/calendar-value.ts';

/**
 * A day (its beginning) or a date and time, as people write them: without an offset on the clock of the Feedback account,
 * whatever the machine's own is. A time that a clock change skips moves on by the change, one that comes twice is the first.
 * @param timeZone The account's.
 * @throws CloseloopError config
 */
export function instant(text: string, option: string, timeZone: string): Date {
  const at = readInstant(text, timeZone);
  if (at !== undefined) return at;
  throw new CloseloopError(
    `${option} must be a day like 2026-11-01, or a date and time like 2026-11-01T08:00 (in the account's zone, ${timeZone}) or 2026-11-01T08:00:00Z.`,
    { kind: 'config' },
  );
}
