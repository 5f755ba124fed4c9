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

/** That no message goes out on public holidays of the recipient's country. */
export interface HolidayRules {
  calendar: HolidayCalendar;
  /** Where a recipient is of whom nothing tells the country. */
  country: string;
  region?: string | undefined;
}
