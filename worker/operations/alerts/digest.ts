import { Temporal } from 'temporal-polyfill';
import { type Day, days } from '../../../core/schedule/days.ts';

export interface DigestTime {
  day: Day;
  /** HH:MM on the clock of the zone. */
  at: string;
}

/** The week of the digest that was due last. It begins with the digest before. */
export function lastWeek({ day, at }: DigestTime, timeZone: string, now: Date): { from: Date; until: Date } {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone).toPlainDate();
  const instantOn = (date: Temporal.PlainDate) =>
    date.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(at) }).epochMilliseconds;
  const date = today.subtract({ days: (today.dayOfWeek - (days.indexOf(day) + 1) + 7) % 7 });
  const due = instantOn(date) <= now.getTime() ? date : date.subtract({ days: 7 });
  return { from: new Date(instantOn(due.subtract({ days: 7 }))), until: new Date(instantOn(due)) };
}
