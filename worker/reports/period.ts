import { Temporal } from 'temporal-polyfill';

/** Days of the account's calendar, YYYY-MM-DD, both inclusive. */
export interface Period {
  since: string;
  until: string;
}

/** The period of the same length that ends the day before this one begins. */
export function periodBefore({ since, until }: Period): Period {
  const [first, last] = [Temporal.PlainDate.from(since), Temporal.PlainDate.from(until)];
  const days = first.until(last, { largestUnit: 'days' }).days + 1;
  return { since: first.subtract({ days }).toString(), until: first.subtract({ days: 1 }).toString() };
}

/** Thirty days, the last one included. */
export function thirtyDaysUntil(until: string): Period {
  return { since: Temporal.PlainDate.from(until).subtract({ days: 29 }).toString(), until };
}

/** From the beginning of the first day to the end of the last one. */
export function instantsOf({ since, until }: Period, timeZone: string): { from: Date; until: Date } {
  const beginning = (date: Temporal.PlainDate) => new Date(date.toZonedDateTime(timeZone).epochMilliseconds);
  return {
    from: beginning(Temporal.PlainDate.from(since)),
    until: beginning(Temporal.PlainDate.from(until).add({ days: 1 })),
  };
}
