import { Temporal } from 'temporal-polyfill';
import type { MailPeriod } from '../config/mail-periods.ts';
import type { ReportMail } from '../config/reports.ts';
import { type Period, periodCalled } from '../reports/period.ts';
import { daysIn } from '../support/shown-time.ts';

/** No mail goes out from this hour on, unless its own time (`at`) is later. */
const evening = '20:00';

/** The last whole week (Monday to Sunday) or month before this day. */
function periodBeforeDay(every: MailPeriod, today: string): Period {
  if (every === 'month') return periodCalled('last-month', today);
  const day = Temporal.PlainDate.from(today);
  const monday = day.subtract({ days: day.dayOfWeek - 1 });
  return { since: monday.subtract({ days: 7 }).toString(), until: monday.subtract({ days: 1 }).toString() };
}

/** This period and the periods of the same length before it, first to last. */
export function periodsUpTo(every: MailPeriod, { since }: Period, count: number): Period[] {
  const first = Temporal.PlainDate.from(since);
  const begins = (back: number) => first.subtract(every === 'month' ? { months: back } : { days: 7 * back });
  return Array.from({ length: count }, (_, i) => {
    const [from, next] = [begins(count - 1 - i), begins(count - 2 - i)];
    return { since: from.toString(), until: next.subtract({ days: 1 }).toString() };
  });
}

/**
 * Whether the mail about this period may go out now: in the receiver's time zone the period is over, and it is day.
 * @param timeZone the account's time zone
 */
export function isDecentHour(
  { at, zone }: Pick<ReportMail, 'at' | 'zone'>,
  { until }: Period,
  { timeZone, now }: { timeZone: string; now: Date },
): boolean {
  const there = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone ?? timeZone);
  const time = there.toPlainTime().toString({ smallestUnit: 'minute' });
  const isByDay = time >= at && (at >= evening || time < evening);
  return isByDay && there.toPlainDate().toString() > until;
}

/** The period that a mail sent now is about. @param timeZone the account's time zone, by whose days the service counts */
export function periodNow(every: MailPeriod, { timeZone, now }: { timeZone: string; now: Date }): Period {
  return periodBeforeDay(every, daysIn(timeZone)(now));
}
