import { countryOf } from './countries.ts';
import type { RecipientPlace } from './recipient-place.ts';
import type { SendWindow } from './send-window.ts';
import { dateText } from './wall-clock.ts';

/** Public holidays, from any calendar. */
export interface HolidayCalendar {
  /**
   * @param country ISO 3166 code
   * @param region of it, by code or name, as people write it; one that isn't known counts as none
   * @returns undefined where the country's holidays are not known
   */
  of(country: string, region: string | undefined): PlaceHolidays | undefined;
}

export interface PlaceHolidays {
  /** The country, and the region where it is known: "EE", "DE-BY". */
  place: string;
  /** The name of the public holiday on a date (2026-12-25); undefined on any other day. */
  on(date: string): string | undefined;
}

/** The public holidays on which no message goes out: the recipient's country's. */
export interface HolidayRules {
  calendar: HolidayCalendar;
  /** The country of a recipient of whom nothing tells the country. */
  country: string;
  region?: string | undefined;
}

type Calendar = { found: PlaceHolidays; why: string[] } | { found?: undefined; why: string[] };

/** The holidays of where the recipient is: by the address, else the phone number, else their own zone, else as the rules say. */
export function holidaysOf(place: RecipientPlace | undefined, { calendar, country, region }: HolidayRules): Calendar {
  const ofZone = place?.isKnown === true ? countryOf(place.zone) : undefined;
  const theirs = place?.country ?? ofZone;
  const found = theirs === undefined ? calendar.of(country, region) : calendar.of(theirs, place?.region);
  return found
    ? { found, why: [] }
    : { why: [`public holidays of ${theirs ?? country} are not known: asks on any day`] };
}

/** Open on every day that is no public holiday, on the calendar of `zone`. */
export function workdays(zone: string, { place, on }: PlaceHolidays): SendWindow {
  const holidayOn = (date: number) => {
    const holiday = on(dateText(date));
    return holiday === undefined ? undefined : `public holiday in ${place}: ${holiday}`;
  };
  const name = `nobody is asked on public holidays in ${place}, ${zone}`;
  return { name, from: 0, until: 0, days: undefined, zone, holidayOn };
}
