/** Public holidays, from whoever knows them. */
export interface HolidayCalendar {
  /**
   * The name of the public holiday on a date (2026-12-25) in a country, or in its region; undefined on any other day, and where
   * the country isn't known.
   */
  on(date: string, country: string, region: string | undefined): string | undefined;
}
