import { Temporal } from 'temporal-polyfill';
import type { PeriodName, StepName } from './period-names.ts';

/** Days of the account's calendar, YYYY-MM-DD, both inclusive. */
export interface Period {
  since: string;
  until: string;
}

/**
 * The period that this one is compared with: it ends the day before this one begins and has as many days, or, before whole calendar
 * months, as many whole months.
 */
export function periodBefore({ since, until }: Period): Period {
  const [first, next] = [Temporal.PlainDate.from(since), Temporal.PlainDate.from(until).add({ days: 1 })];
  const isMonths = first.day === 1 && next.day === 1;
  const length = first.until(next, { largestUnit: isMonths ? 'months' : 'days' });
  return { since: first.subtract(length).toString(), until: first.subtract({ days: 1 }).toString() };
}

/** A period that contains today ends today. */
export function periodCalled(name: PeriodName, today: string): Period {
  const last = Temporal.PlainDate.from(today);
  const month = last.with({ day: 1 });
  const quarter = month.subtract({ months: (month.month - 1) % 3 });
  const before = (first: Temporal.PlainDate, months: number): Period => ({
    since: first.subtract({ months }).toString(),
    until: first.subtract({ days: 1 }).toString(),
  });
  switch (name) {
    case '7-days':
      return { since: last.subtract({ days: 6 }).toString(), until: today };
    case '30-days':
      return { since: last.subtract({ days: 29 }).toString(), until: today };
    case 'this-month':
      return { since: month.toString(), until: today };
    case 'last-month':
      return before(month, 1);
    case 'this-quarter':
      return { since: quarter.toString(), until: today };
    case 'last-quarter':
      return before(quarter, 3);
  }
}

/** The parts of a period, in order: days, weeks of seven days, or calendar months. The last part may be shorter, and so may the first month. */
export function stepsOf({ since, until }: Period, every: StepName): Period[] {
  const steps: Period[] = [];
  const end = Temporal.PlainDate.from(until).add({ days: 1 });
  for (let at = Temporal.PlainDate.from(since); Temporal.PlainDate.compare(at, end) < 0; ) {
    const after =
      every === 'month' ? at.with({ day: 1 }).add({ months: 1 }) : at.add({ days: every === 'day' ? 1 : 7 });
    const next = Temporal.PlainDate.compare(after, end) < 0 ? after : end;
    steps.push({ since: at.toString(), until: next.subtract({ days: 1 }).toString() });
    at = next;
  }
  return steps;
}

/** The steps that show a period in a chart with at most sixteen points; undefined: the period is too short or too long for a chart. */
export function stepFor({ since, until }: Period): StepName | undefined {
  const days = Temporal.PlainDate.from(since).until(Temporal.PlainDate.from(until)).days + 1;
  if (days < 2) return undefined;
  if (days <= 16) return 'day';
  if (days <= 105) return 'week';
  return days <= 450 ? 'month' : undefined;
}

/** From the beginning of the first day to the end of the last one. */
export function instantsOf({ since, until }: Period, timeZone: string): { from: Date; until: Date } {
  const beginning = (date: Temporal.PlainDate) => new Date(date.toZonedDateTime(timeZone).epochMilliseconds);
  return {
    from: beginning(Temporal.PlainDate.from(since)),
    until: beginning(Temporal.PlainDate.from(until).add({ days: 1 })),
  };
}
