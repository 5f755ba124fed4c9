import { countryOf } from './countries.ts';
import type { RecipientPlace } from './recipient-place.ts';
import type { SendWindow } from './send-window.ts';
import { dateText } from './wall-clock.ts';

/** Public holidays, from any calendar. */
export interface HolidayCalendar {
  /**
   * @param country ISO 3166 code
   * @param region a region of the country by code or name, as people write it; an unknown region is ignored
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

/** The rules for the public holidays on which no message goes out: those of the recipient's country. */
export interface HolidayRules {
  calendar: HolidayCalendar;
  /** The country that is used for a recipient whose country is not known. */
  country: string;
  region?: string | undefined;
}

/** The holidays at the recipient's place: by the address, else the phone number, else the recipient's zone, else the rules' own country. */
export function holidaysOf(
  place: RecipientPlace | undefined,
  { calendar, country, region }: HolidayRules,
): { found?: PlaceHolidays; why: string[] } {
  const ofZone = place?.isKnown === true ? countryOf(place.zone) : undefined;
  const theirs = place?.country ?? ofZone;
  const found = theirs === undefined ? calendar.of(country, region) : calendar.of(theirs, place?.region);
  return found
    ? { found, why: [] }
    : { why: [`public holidays of ${theirs ?? country} are not known: asks on any day`] };
}

/** A window that is open on every day that is no public holiday, on the calendar of `zone`. */
export function workdays(zone: string, { place, on }: PlaceHolidays): SendWindow {
  const holidayOn = (date: number) => {
    const holiday = on(dateText(date));
    return holiday === undefined ? undefined : `public holiday in ${place}: ${holiday}`;
  };
  const name = `nobody is asked on public holidays in ${place}, ${zone}`;
  return { name, from: 0, until: 0, days: undefined, zone, holidayOn };
}
